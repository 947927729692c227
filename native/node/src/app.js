// The contract as a Fastify application.

import { METHODS } from 'node:http'
import process from 'node:process'

import Fastify from 'fastify'
import { PAGES, render } from './pages.js'
import { METHOD_NOT_ALLOWED, NOT_FOUND, Problem, refuse, sendJson } from './problem.js'
import { clientErrorHandler, frameworkErrors, judgeRequest } from './raw-path.js'
import { parseUserId, Users } from './users.js'

const REQUEST_WITHIN_MS = 10_000
const LONGEST_SEGMENT = 16 * 1024 // node:http's limit of a whole head

/** Builds the application; `year` returns the year that the pages show. Throws on a connection string that is none. */
export function buildApp ({ connectionString, year }) {
  const app = Fastify({
    logger: { level: 'error', stream: process.stderr }, // requests are logged as info
    requestTimeout: REQUEST_WITHIN_MS,
    return503OnClosing: false, // what was accepted is finished
    frameworkErrors,
    clientErrorHandler,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: LONGEST_SEGMENT }
  })

  const users = new Users(connectionString, app.log)
  app.addHook('onClose', () => users.close())
  app.addHook('onRequest', judgeRequest)
  app.setNotFoundHandler((request, reply) => refuse(reply, NOT_FOUND))
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof Problem) return refuse(reply, error)
    request.log.error(error)
    return sendJson(reply, 500, { message: 'internal error' })
  })

  const others = METHODS.filter((method) => !['GET', 'HEAD', 'CONNECT'].includes(method))
  for (const method of others) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  }
  const get = (url, handler) => {
    app.get(url, handler) // and HEAD, as Fastify has it
    // In the hook, since the handler runs only after a body was parsed.
    const refuseMethod = async (request, reply) => refuse(reply, METHOD_NOT_ALLOWED)
    app.route({ url, method: others, onRequest: refuseMethod, handler: refuseMethod })
  }

  get('/helloWorld', async (request, reply) => sendJson(reply, 200, { message: 'Hello world!' }))
  get('/users/:id', async (request, reply) => {
    const user = await users.byId(parseUserId(request.params.id))
    return sendJson(reply, 200, user)
  })
  get('/api/values/:id', async (request, reply) => reply.type('text/plain; charset=utf-8').send('value'))
  for (const [path, view] of [['/', 'home'], ['/about', 'about'], ['/contact', 'contact']]) {
    get(path, async (request, reply) => {
      return reply.type('text/html; charset=utf-8').send(render(view, { ...PAGES[view], year: year() }))
    })
  }
  app.get('/healthz', async (request, reply) => reply.send('ok'))
  return app
}
