import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import net from 'node:net'
import path from 'node:path'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { yearClock } from '../src/settings.js'
import { ROOT, stalledStore } from './support/stores.js'

function start (t, args, environment = {}) {
  const main = path.join(ROOT, 'native/node/src/main.js')
  const program = spawn(process.execPath, [main, ...args], { env: { PATH: process.env.PATH, ...environment } })
  t.after(() => program.kill('SIGKILL'))
  const said = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr']) program[stream].on('data', (chunk) => { said[stream] += chunk })
  return { program, said }
}

test('bad input gets one clear line', async (t) => {
  const taken = net.createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.after(() => taken.close())
  const address = `127.0.0.1:${taken.address().port}`
  const bad = {
    'a connection string that is none': [[], { CONNECTION_STRING: 'localhost' }, 1, ['CONNECTION_STRING', 'mongodb://']],
    'a year that is none': [[], { LEVELFIELD_YEAR: 'soon' }, 1, ['LEVELFIELD_YEAR', 'soon', '1 to 9999']],
    'a port that is taken': [['--listen', address], {}, 1, ['--listen', address, 'in use']],
    'an address that is none': [[], { LISTEN_ADDR: 'nowhere' }, 1, ['LISTEN_ADDR', 'nowhere']],
    'an option that is none': [['--port', '1'], {}, 2, ['--port', '--help']],
    'an argument too many': [['serve'], {}, 2, ['serve', '--help']]
  }
  for (const [name, [args, environment, code, words]] of Object.entries(bad)) {
    await t.test(name, async (t) => {
      const { program, said } = start(t, args, environment)
      assert.equal((await once(program, 'close'))[0], code)
      assert.match(said.stderr, /^[^\n]+\n$/)
      for (const word of words) assert.ok(said.stderr.includes(word), `${said.stderr} does not name ${word}`)
    })
  }
})

test('SIGTERM lets what is in flight finish', async (t) => {
  const CONNECTION_STRING = await stalledStore(t)
  const { program, said } = start(t, ['--listen', '127.0.0.1:0'], { CONNECTION_STRING })
  await once(program.stdout, 'data')
  const url = /listening on (\S+)/.exec(said.stdout)[1]
  assert.equal((await fetch(`${url}/healthz`)).status, 200)
  const answer = fetch(`${url}/users/1`) // takes two seconds
  await sleep(300)
  program.kill('SIGTERM')
  assert.equal((await answer).status, 504)
  const [code] = await once(program, 'exit')
  assert.equal(code, 0)
  await assert.rejects(fetch(url))
})

test('the year is the clock\'s unless it is given', () => {
  assert.equal(yearClock('2031')(), 2031)
  for (const unset of [undefined, '']) assert.equal(yearClock(unset)(), new Date().getUTCFullYear())
  for (const bad of ['0', '10000', '-1', 'next', '2026 ', '0x7e7']) {
    assert.throws(() => yearClock(bad), (error) => error.message.includes(bad) && error.message.includes('LEVELFIELD_YEAR'))
  }
})
