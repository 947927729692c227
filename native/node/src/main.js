// Serves the contract with Fastify: reads the settings, listens, and drains on SIGTERM and SIGINT.

import process from 'node:process'
import { buildApp } from './app.js'
import { readSettings, USAGE } from './settings.js'

// What is in flight at SIGTERM has this long to finish.
const GRACE_MS = 10_000

function fail (code, message) {
  process.stderr.write(`node: ${message}\n`)
  process.exit(code)
}

let settings
try {
  settings = readSettings(process.argv.slice(2), process.env)
} catch (error) {
  const isUsage = error.code?.startsWith('ERR_PARSE_ARGS')
  fail(isUsage ? 2 : 1, isUsage ? `${error.message}; see --help` : error.message)
}
if (settings.help) {
  process.stdout.write(USAGE)
  process.exit(0)
}

let app
try {
  app = buildApp(settings)
} catch (error) {
  fail(1, `CONNECTION_STRING is nothing like mongodb://127.0.0.1:27017/: ${error.message}`)
}
try {
  process.stdout.write(`node: listening on ${await app.listen(settings.listen)}\n`)
} catch (error) {
  fail(1, `cannot listen on ${settings.listen.host}:${settings.listen.port} (--listen, LISTEN_ADDR): ${error.message}`)
}

async function drain () {
  setTimeout(() => fail(1, `requests were still in flight ${GRACE_MS / 1000} s after the signal to stop`), GRACE_MS)
  // A connection that was busy at the close is kept alive after its answer, unless it is swept up.
  setInterval(() => app.server.closeIdleConnections(), 50)
  await app.close()
  process.exit(0)
}
process.once('SIGTERM', drain)
process.once('SIGINT', drain)
