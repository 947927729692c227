// The contract's cases against the application on a real socket, with a real store.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'node:test'
import { buildApp } from '../src/app.js'
import { Connection } from './support/connection.js'
import { ROOT, seededStore, stalledStore, unreachableStore } from './support/stores.js'

// Another year than the golden one, so that a page with a fixed year shows.
const YEAR = 2031
const GOLDEN_YEAR = 2026

const CONTRACT = path.join(ROOT, 'contract')
const cases = readdirSync(path.join(CONTRACT, 'cases'))
  .filter((file) => file.endsWith('.json'))
  .flatMap((file) => JSON.parse(readFileSync(path.join(CONTRACT, 'cases', file), 'utf8'))
    .map((entry) => ({ ...entry, name: `${path.basename(file, '.json')}: ${entry.name}` })))

const stores = { up: seededStore, unreachable: unreachableStore, stalled: stalledStore }

for (const [state, start] of Object.entries(stores)) {
  test(`the store is ${state}`, { concurrency: true }, async (t) => {
    const connectionString = await start(t)
    if (connectionString === undefined) return
    const app = buildApp({ connectionString, year: () => YEAR })
    t.after(() => app.close())
    await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address()
    const mine = cases.filter((entry) => (entry.store ?? state) === state)
    await Promise.all(mine.map((entry) => t.test(entry.name, () => check(port, entry))))
    await t.test('a body that nobody reads changes nothing', () => bodiesChangeNothing(port))
    await t.test('a values id may be long', () => longSegment(port))
  })
}

async function check (port, entry) {
  const connection = await Connection.open(port)
  try {
    const start = performance.now()
    const answer = await connection.ask(entry.request)
    const took = performance.now() - start
    assert.ok(!(took > entry.at_most_ms), `answered after ${took} ms`)
    const want = entry.golden === undefined ? entry.body : golden(entry.golden)
    expect(answer, entry, want)
    assert.equal(answer.body, want)
    if (answer.headers.get('connection') === 'close') return // node:http ends a connection whose request it refused
    if (entry.request.startsWith('GET ')) {
      const head = await connection.ask(entry.request.replace('GET', 'HEAD'))
      expect(head, entry, want)
    }
    assert.equal((await connection.ask('GET /helloWorld')).status, 200)
  } finally {
    connection.close()
  }
}

function expect ({ status, headers }, entry, body) {
  assert.equal(status, entry.status)
  for (const name of ['content-type', 'retry-after']) {
    assert.equal(headers.get(name), entry.headers[name], name)
  }
  assert.deepEqual(set(headers.get('allow')), set(entry.headers.allow))
  assert.equal(headers.get('content-length'), String(Buffer.byteLength(body)))
  assert.equal(headers.get('transfer-encoding'), undefined)
}

const set = (value = '') => new Set(value.split(/, */))

const golden = (name) => readFileSync(path.join(CONTRACT, 'pages', name), 'utf8').replaceAll(GOLDEN_YEAR, YEAR)

// Fastify parses a body before its handlers run, and refuses a content type that it does not know.
async function bodiesChangeNothing (port) {
  const connection = await Connection.open(port)
  try {
    assert.equal((await connection.ask('POST /users/1', 'a,b')).status, 405)
    assert.equal((await connection.ask('POST /nothing', 'a,b')).status, 404)
    assert.equal((await connection.ask('GET /helloWorld', 'a,b')).status, 200)
  } finally {
    connection.close()
  }
}

// Fastify answers 404 to a segment of more than 100 characters, unless told otherwise.
async function longSegment (port) {
  const connection = await Connection.open(port)
  try {
    assert.equal((await connection.ask(`GET /api/values/${'x'.repeat(2000)}`)).status, 200)
  } finally {
    connection.close()
  }
}
