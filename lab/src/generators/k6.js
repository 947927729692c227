// One trial of an open loop: a constant arrival rate at one URL, every answer's status and body checked.
// Its settings come from the environment; it imports nothing that is not part of k6, so that it runs offline.
import http from 'k6/http';
import { check } from 'k6';

const expectedStatus = Number(__ENV.STATUS);
const expectedBody = open(__ENV.BODY_FILE);

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

export default function () {
  const answer = http.get(__ENV.URL, { tags: { name: 'target' }, timeout: '10s' });
  check(answer, {
    'status and body are right': (r) => r.status === expectedStatus && r.body === expectedBody,
  });
}

export function handleSummary(data) {
  return { [__ENV.SUMMARY]: JSON.stringify(data) };
}
