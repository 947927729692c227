// The stores that tests run against: a real one with the contract's fixtures, one that is not there, one that is silent.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, appendFileSync, constants, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { BSON, MongoClient } from 'mongodb'

export const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))

export const connectionString = (port) => `mongodb://127.0.0.1:${port}/?directConnection=true`

/** The store that a person named for tests, or a FerretDB of our own until the test ends; undefined if there is none. */
export async function seededStore (t) {
  const store = process.env.LEVELFIELD_TEST_CONNECTION_STRING || await startFerretDB(t)
  if (store === undefined) return undefined
  const client = new MongoClient(store)
  const users = client.db('mongo').collection('users')
  await users.drop()
  const lines = readFileSync(path.join(ROOT, 'contract/seed.jsonl'), 'utf8').trim().split('\n')
  await users.insertMany(lines.map((line) => BSON.EJSON.parse(line, { relaxed: false })))
  await client.close()
  return store
}

async function startFerretDB (t) {
  const program = find('ferretdb')
  if (program === undefined) return notRun(t, 'ferretdb')
  const directory = mkdtempSync(path.join(tmpdir(), 'levelfield-'))
  const port = await freePort()
  const server = spawn(program, [
    '--handler=sqlite', '--telemetry=disable', '--debug-addr=-', '--log-level=ERROR', '--state-dir=-',
    `--listen-addr=127.0.0.1:${port}`, `--sqlite-url=file:${directory}/`
  ], { stdio: ['ignore', 'ignore', 'inherit'] })
  t.after(async () => {
    server.kill()
    await once(server, 'exit')
    rmSync(directory, { recursive: true })
  })
  return connectionString(port) // the driver waits for the server to listen
}

function find (program) {
  const places = [path.join(ROOT, '.tools/bin'), ...process.env.PATH.split(path.delimiter)]
  return places.map((place) => path.join(place, program)).find((file) => {
    try {
      accessSync(file, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** Says that a test could not run, where `make test` will repeat it. With STRICT=1 it is a failure. */
function notRun (t, missing) {
  const line = `not run: native/node, ${t.name} (missing ${missing})\n`
  if (process.env.LEVELFIELD_NOT_RUN) appendFileSync(process.env.LEVELFIELD_NOT_RUN, line)
  const remedy = `missing ${missing}; run \`make setup\`, or set LEVELFIELD_TEST_CONNECTION_STRING to a MongoDB that tests may write to`
  if (process.env.STRICT === '1') throw new Error(`STRICT=1: ${remedy}`)
  t.skip(remedy)
}

/** A port where nothing listens. */
export const unreachableStore = async () => connectionString(await freePort())

/** Accepts connections and never answers. */
export async function stalledStore (t) {
  const sockets = []
  const server = net.createServer((socket) => sockets.push(socket.on('error', () => {}))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return connectionString(server.address().port)
}

export async function freePort () {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}
