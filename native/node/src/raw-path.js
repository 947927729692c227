// What the contract judges on the raw path, before the router decodes it, and the two kinds of request that never get
// as far as a route: a path that does not decode, and a method that node:http does not know.

import { INVALID_PATH_PARAMETER, METHOD_NOT_ALLOWED, NOT_FOUND, refusal, refuse } from './problem.js'

const KNOWN_PATH = /^\/(|about|contact|helloWorld|users\/[^/]+|api\/values\/[^/]+)\/?$/
const REQUEST_LINE = /^[\w!#$%&'*+.^`|~-]+ (\/\S*) HTTP\/1\.[01]\r?\n/

/** Returns what is wrong with a request target's form, or undefined. The query string is nobody's business. */
export function judge (target) {
  const path = pathOf(target)
  if (path.includes('%')) return INVALID_PATH_PARAMETER
  if (path.includes('//')) return NOT_FOUND
}

/** Fastify's hook before anything else of a request, but after its routing. */
export async function judgeRequest (request, reply) {
  const problem = judge(request.raw.url)
  if (problem) return refuse(reply, problem)
  if (request.is404) return refuse(reply, NOT_FOUND) // here, since the handler runs only after a body was parsed
}

/** Fastify's answer where its router gave up: on a percent sign that encodes nothing. */
export function frameworkErrors (error, request, reply) {
  refuse(reply, judge(request.raw.url) ?? error)
}

/** Answers what node:http refused to parse. A method that it does not know is one that the contract refuses by path. */
export function clientErrorHandler (error, socket) {
  if (error.code === 'ECONNRESET' || !socket.writable) return
  socket.end(refusalOf(error) ?? `HTTP/1.1 ${STATUS[error.code] ?? '400 Bad Request'}\r\nconnection: close\r\n\r\n`)
}

const STATUS = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large'
}

function refusalOf (error) {
  if (error.code !== 'HPE_INVALID_METHOD') return
  // The packet may begin with requests that were parsed; this one's line is where the parser stopped.
  const packet = error.rawPacket.toString('latin1')
  const line = packet.slice(packet.lastIndexOf('\n', error.bytesParsed) + 1)
  const target = REQUEST_LINE.exec(line)?.[1]
  if (target === undefined) return
  return refusal(judge(target) ?? (KNOWN_PATH.test(pathOf(target)) ? METHOD_NOT_ALLOWED : NOT_FOUND))
}

function pathOf (target) {
  const query = target.indexOf('?')
  return query < 0 ? target : target.slice(0, query)
}
