// A plain value, 100 times a second: k6 run k6/values.js
import * as profile from './profile.js';

export const options = profile.options(100);

export default function () {
  profile.expect('/api/values/5', 'values', 'value');
}
