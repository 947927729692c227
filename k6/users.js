// A user from the store, 10 times a second: k6 run k6/users.js
import * as profile from './profile.js';

export const options = profile.options(10);

export default function () {
  profile.expect(
    '/users/1',
    'users',
    '{"Id":1,"Name":"Arthur","Surname":"Morgan","Email":"ArthurMorgan@mail.com"}',
  );
}
