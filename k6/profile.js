// What the four scripts share: one scenario at a constant arrival rate, and when a run has failed.
import { check } from 'k6';
import http from 'k6/http';

export const BASE_URL = __ENV.BASE_URL || 'http://127.0.0.1:8083';

// BASE_URL, RATE (requests a second), DURATION and VUS come from the environment.
export function options(rate) {
  return {
    scenarios: {
      constant: {
        executor: 'constant-arrival-rate',
        rate: Number(__ENV.RATE || rate),
        timeUnit: '1s',
        duration: __ENV.DURATION || '10s',
        preAllocatedVUs: Number(__ENV.VUS || 100),
      },
    },
    thresholds: {
      http_req_failed: ['rate==0'],
      checks: ['rate==1'],
      // k6 passes a rate of nothing, and a script that throws before it asks; these two do not.
      'http_reqs{expected_response:true}': ['count>0'],
      iterations: ['count>0'],
      dropped_iterations: ['count==0'],
    },
  };
}

// Asks once and checks status and body; `name` groups the requests of one route in the summary.
export function expect(path, name, body) {
  const response = http.get(`${BASE_URL}${path}`, { tags: { name } });
  check(response, {
    'status is 200': (r) => r.status === 200,
    'body is as the contract says': (r) =>
      typeof body === 'string' ? r.body === body : r.body !== null && body.every((part) => r.body.includes(part)),
  });
}
