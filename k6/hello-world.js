// A greeting, 100 times a second: k6 run k6/hello-world.js
import * as profile from './profile.js';

export const options = profile.options(100);

export default function () {
  profile.expect('/helloWorld', 'helloWorld', '{"message":"Hello world!"}');
}
