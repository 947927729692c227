// What the program takes from its environment and arguments.

import { parseArgs } from 'node:util'

const DEFAULT_LISTEN = '127.0.0.1:8088'
const DEFAULT_CONNECTION_STRING = 'mongodb://127.0.0.1:27017/?directConnection=true'

export const USAGE = `Usage: node src/main.js [--listen ADDR:PORT]

Serves the Levelfield contract.

  --listen ADDR:PORT  where to listen; overrides LISTEN_ADDR [default ${DEFAULT_LISTEN}]

Environment:
  LISTEN_ADDR         where to listen
  CONNECTION_STRING   the users' store [default ${DEFAULT_CONNECTION_STRING}]
  LEVELFIELD_YEAR     the year that the pages show [default: the current one, UTC]
`

/** Throws an Error with a line for the user. */
export function readSettings (args, environment) {
  const { values } = parseArgs({ args, options: { listen: { type: 'string' }, help: { type: 'boolean', short: 'h' } } })
  return {
    help: values.help === true,
    listen: parseListen(values.listen ?? (environment.LISTEN_ADDR || DEFAULT_LISTEN)),
    connectionString: environment.CONNECTION_STRING || DEFAULT_CONNECTION_STRING,
    year: yearClock(environment.LEVELFIELD_YEAR)
  }
}

function parseListen (text) {
  const [, v6, name, port] = /^(?:\[(.+)\]|([^:]*)):([0-9]{1,5})$/.exec(text) ?? []
  if (port === undefined || Number(port) > 65535) {
    throw new Error(`cannot listen on "${text}" (--listen, LISTEN_ADDR): not an address and a port such as ${DEFAULT_LISTEN}`)
  }
  return { host: v6 ?? (name || '::'), port: Number(port) }
}

/** Returns the clock of the pages: always the year that the variable names, or where it is empty the current one. */
export function yearClock (variable) {
  if (!variable) return () => new Date().getUTCFullYear()
  const year = Number(variable)
  if (!/^[0-9]+$/.test(variable) || year < 1 || year > 9999) {
    throw new Error(`LEVELFIELD_YEAR=${JSON.stringify(variable)} is not a year from 1 to 9999; unset it for the current one`)
  }
  return () => year
}
