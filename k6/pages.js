// The three pages in turn, 100 times a second: k6 run k6/pages.js
import exec from 'k6/execution';
import * as profile from './profile.js';

export const options = profile.options(100);

const PAGES = [
  { path: '/', name: 'home', title: 'Home - Levelfield' },
  { path: '/about', name: 'about', title: 'About - Levelfield' },
  { path: '/contact', name: 'contact', title: 'Contact - Levelfield' },
];

export default function () {
  const page = PAGES[exec.scenario.iterationInTest % PAGES.length];
  profile.expect(page.path, page.name, [`<title>${page.title}</title>`, '</html>\n']);
}
