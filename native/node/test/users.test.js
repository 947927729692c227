import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { INVALID_PATH_PARAMETER, STORE_TIMED_OUT, STORE_UNAVAILABLE } from '../src/problem.js'
import { parseUserId, Users } from '../src/users.js'
import { freePort, seededStore, stalledStore } from './support/stores.js'

const SILENT_LOG = { error () {} }

test('a user id is one to ten digits up to int32', () => {
  for (const [text, id] of [['0', 0], ['1', 1], ['007', 7], ['0000000001', 1], ['2147483647', 2147483647]]) {
    assert.equal(parseUserId(text), id)
  }
})

test('nothing else is a user id', () => {
  for (const text of ['', ' 1', '1 ', '1\n', '-1', '-0', '+1', '1.5', '1.0', '1e1', '0x1', '1_0', 'abc', '1a', 'NaN',
    '٣', '2147483648', '9999999999', '00000000001', '1'.repeat(40)]) {
    assert.throws(() => parseUserId(text), INVALID_PATH_PARAMETER, text)
  }
})

test('a store that comes and goes', { timeout: 60_000 }, async (t) => {
  const store = await seededStore(t)
  if (store === undefined) return
  const gate = new Gate(new URL(store).host, await freePort())
  t.after(() => gate.shut())
  const through = new URL(store)
  through.host = `127.0.0.1:${gate.port}`
  const users = new Users(through.href, SILENT_LOG)
  t.after(() => users.close())

  await expectUnavailable(users) // the first connection attempt of all fails
  await gate.open()
  await expectUser(users)
  gate.stalled = true
  await expectTimedOut(users)
  gate.shut()
  await expectUnavailable(users)
  await expectUnavailable(users)
  await gate.open()
  await expectUser(users)
})

test('requests beyond the pool do not wait for its connections', async (t) => {
  const store = await seededStore(t)
  if (store === undefined) return
  const gate = new Gate(new URL(store).host, await freePort())
  t.after(() => gate.shut())
  await gate.open()
  const through = new URL(store)
  through.host = `127.0.0.1:${gate.port}`
  through.searchParams.set('maxPoolSize', '2')
  const users = new Users(through.href, SILENT_LOG)
  t.after(() => users.close())

  await Promise.all([expectUser(users), expectUser(users)]) // two connections stand
  gate.stalled = true
  const holders = [expectTimedOut(users), expectTimedOut(users)]
  await sleep(100) // the two hold both connections by then
  await expectUnavailable(users)
  await Promise.all(holders)
})

test('a store that is silent from the start', async (t) => {
  const users = new Users(await stalledStore(t), SILENT_LOG)
  t.after(() => users.close())
  await Promise.all([expectTimedOut(users), sleep(500).then(() => expectTimedOut(users))])
})

test('a connection string that is none is an error', () => {
  for (const bad of ['localhost:27017', 'mongodb://', 'mongodb://127.0.0.1/?maxPoolSize=x']) {
    assert.throws(() => new Users(bad, SILENT_LOG), bad)
  }
})

async function expectUser (users) {
  const deadline = Date.now() + 20_000
  for (;;) {
    try {
      const user = await users.byId(1)
      assert.deepEqual(user, { Id: 1, Name: 'Arthur', Surname: 'Morgan', Email: 'ArthurMorgan@mail.com' })
      return
    } catch (error) {
      if (Date.now() > deadline) throw error
    }
  }
}

const expectUnavailable = (users) => expectProblem(users, STORE_UNAVAILABLE, 0, 1500)
const expectTimedOut = (users) => expectProblem(users, STORE_TIMED_OUT, 1900, 3000)

async function expectProblem (users, problem, from, to) {
  const start = performance.now()
  await assert.rejects(users.byId(1), (error) => error === problem)
  const took = performance.now() - start
  assert.ok(took >= from && took <= to, `${problem.message} after ${took} ms, not between ${from} and ${to}`)
}

// Stands before a real store, so that a test can take the store away and bring it back.
class Gate {
  stalled = false
  #sockets = new Set()

  constructor (store, port) {
    this.store = new URL(`tcp://${store}`)
    this.port = port
  }

  async open () {
    this.stalled = false
    this.#server = net.createServer((client) => {
      const server = net.connect(Number(this.store.port), this.store.hostname)
      for (const [from, to] of [[client, server], [server, client]]) {
        this.#sockets.add(from.on('error', () => {}).on('close', () => to.destroy()))
        from.on('data', (chunk) => this.stalled || to.write(chunk))
      }
    }).listen(this.port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  shut () {
    this.#server?.close()
    for (const socket of this.#sockets) socket.destroy()
    this.#sockets.clear()
  }

  #server
}
