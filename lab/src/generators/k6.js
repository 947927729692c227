// One trial of an open loop: a constant arrival rate, every answer's status and body checked.
// Its settings come from the environment; it imports nothing that is not part of k6, so that it runs offline.
import http from 'k6/http';
import { check } from 'k6';
import exec from 'k6/execution';

const expectedStatus = Number(__ENV.STATUS);
const asks = JSON.parse(open(__ENV.ASKS_FILE));
const seed = Number(__ENV.SEED);

export const options = {
  scenarios: {
    load: {
      executor: 'constant-arrival-rate',
      rate: Number(__ENV.RATE),
      timeUnit: '1s',
      duration: __ENV.DURATION,
      preAllocatedVUs: Number(__ENV.VUS),
      maxVUs: Number(__ENV.VUS),
      gracefulStop: '5s',
    },
  },
  summaryTrendStats: __ENV.TREND_STATS.split(','),
  // Makes k6 report the count of dropped iterations even when it is 0.
  thresholds: { dropped_iterations: ['count>=0'] },
};

// The request that is the number-th of the load: as Load::ask draws it.
function ask(number) {
  let x = (seed + number) | 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return asks[((x ^ (x >>> 16)) >>> 0) % asks.length];
}

export default function () {
  const { path, body } = asks.length === 1 ? asks[0] : ask(exec.scenario.iterationInTest);
  const answer = http.get(__ENV.ORIGIN + path, { tags: { name: 'target' }, timeout: '10s' });
  check(answer, {
    'status and body are right': (r) => r.status === expectedStatus && (body === null || r.body === body),
  });
}

export function handleSummary(data) {
  return { [__ENV.SUMMARY]: JSON.stringify(data) };
}
