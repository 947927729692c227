// Every refusal of the contract, and how an answer in JSON looks.

const JSON_TYPE = 'application/json'

/** A request that the contract refuses: an Error to JavaScript, a status and a JSON body to the client. */
export class Problem extends Error {
  constructor (status, message, headers = {}) {
    super(message)
    this.status = status
    this.headers = headers
    this.body = { message }
  }
}

export const INVALID_PATH_PARAMETER = new Problem(400, 'invalid path parameter')
export const NOT_FOUND = new Problem(404, 'not found')
export const METHOD_NOT_ALLOWED = new Problem(405, 'method not allowed', { allow: 'GET, HEAD' })
export const USER_NOT_FOUND = new Problem(404, 'user not found')
export const USER_MALFORMED = new Problem(500, 'user record is malformed')
export const STORE_UNAVAILABLE = new Problem(503, 'users store unavailable', { 'retry-after': '1' })
export const STORE_TIMED_OUT = new Problem(504, 'users store timed out')

/** Sends JSON. With a serializer of its own a reply keeps its content type; otherwise Fastify adds a charset. */
export function sendJson (reply, status, body) {
  return reply.code(status).type(JSON_TYPE).serializer(JSON.stringify).send(body)
}

export function refuse (reply, problem) {
  return sendJson(reply.headers(problem.headers), problem.status, problem.body)
}

/** The same answer as bytes, for a request that node:http did not parse. The connection ends with it. */
export function refusal (problem) {
  const body = JSON.stringify(problem.body)
  const headers = {
    ...problem.headers,
    'content-type': JSON_TYPE,
    'content-length': Buffer.byteLength(body),
    connection: 'close'
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${problem.status} ${problem.message}\r\n${lines.join('')}\r\n${body}`
}
