import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'node:test'
import { PAGES, render } from '../src/pages.js'
import { ROOT } from './support/stores.js'

for (const view of Object.keys(PAGES)) {
  test(`${view} is its golden file`, () => {
    const golden = readFileSync(path.join(ROOT, 'contract/pages', `${view}.html`), 'utf8')
    assert.equal(render(view, { ...PAGES[view], year: 2026 }), golden)
  })

  test(`markup in the model of ${view} is escaped`, () => {
    const markup = '<b>"&\'+`'
    const html = render(view, { title: markup, message: markup, year: 1 })
    assert.ok(!html.includes('<b>'))
    assert.equal(decode(/<title>(.*)<\/title>/.exec(html)[1]), markup)
    assert.equal(decode(/<p class="lead">(.*)<\/p>/.exec(html)[1]), markup)
  })
}

function decode (text) {
  const entities = { lt: '<', gt: '>', quot: '"', amp: '&', '#39': "'" }
  return text.replace(/&(#?\w+);/g, (entity, name) => entities[name] ?? entity)
}
