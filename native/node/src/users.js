// Reads users from MongoDB through one pooled client, within the contract's times.

import { MongoClient } from 'mongodb'
import {
  INVALID_PATH_PARAMETER, STORE_TIMED_OUT, STORE_UNAVAILABLE, USER_MALFORMED, USER_NOT_FOUND
} from './problem.js'

// A request that has no server or no connection by then gets a 503. The contract allows 1.5 s.
const REACH_WITHIN_MS = 1000
// A server that was reached is given until then, counted from the request; then it is a 504.
const ANSWER_WITHIN_MS = 2000
// Silence while connecting. Below REACH_WITHIN_MS, so that a selection that fails knows what it failed on.
const CONNECT_WITHIN_MS = 800

const MAX_ID = 2 ** 31 - 1

/** Reads 1 to 10 ASCII digits up to MongoDB's largest int32. Number() alone would take '', ' 1', '1e1' and '0x1'. */
export function parseUserId (text) {
  if (!/^[0-9]{1,10}$/.test(text) || Number(text) > MAX_ID) throw INVALID_PATH_PARAMETER
  return Number(text)
}

export class Users {
  #client
  #collection
  #log
  #connected = false

  /** Throws on a connection string that is none. Connects in the background, so that a store may be away at start. */
  constructor (connectionString, log) {
    this.#client = new MongoClient(connectionString, {
      serverSelectionTimeoutMS: REACH_WITHIN_MS,
      waitQueueTimeoutMS: REACH_WITHIN_MS,
      connectTimeoutMS: CONNECT_WITHIN_MS
    })
    this.#collection = this.#client.db('mongo').collection('users')
    this.#log = log
    this.#connect().catch(() => {}) // a request will try again, and say so
  }

  close () {
    return this.#client.close()
  }

  /** Finds one user. What it throws is always a Problem; what lies behind one of the store's is logged here, once. */
  async byId (id) {
    let document
    try {
      document = await this.#find(id)
    } catch (error) {
      this.#log.error({ _id: id }, `reading a user: ${error.message}`)
      throw error === STORE_TIMED_OUT ? error : STORE_UNAVAILABLE
    }
    if (document === null) throw USER_NOT_FOUND
    for (const field of ['name', 'surname', 'email']) {
      if (typeof document[field] !== 'string') {
        this.#log.error({ _id: id, field }, 'reading a user: the field is not a string')
        throw USER_MALFORMED
      }
    }
    return { Id: id, Name: document.name, Surname: document.surname, Email: document.email }
  }

  // A server that is silent from the start fails the selection, which ends before the request's time does: select again.
  async #find (id) {
    const giveUp = new AbortController()
    const { signal } = giveUp
    const timer = setTimeout(() => giveUp.abort(STORE_TIMED_OUT), ANSWER_WITHIN_MS)
    try {
      for (;;) {
        try {
          if (!this.#connected) await orAbort(signal, this.#connect())
          // MongoDB compares numbers by value: this finds the _id as int32, int64 and whole double, by the _id index.
          return await this.#collection.findOne({ _id: id }, { signal })
        } catch (error) {
          if (!isSilence(error)) throw error
          signal.throwIfAborted()
        }
      }
    } finally {
      clearTimeout(timer)
    }
  }

  // An operation alone would connect too, but once: after that has failed, all that follow fail at once. Requests at the
  // same time wait for the same attempt.
  async #connect () {
    await this.#client.connect()
    this.#connected = true
  }
}

function orAbort (signal, promise) {
  const aborted = new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  return Promise.race([promise, aborted])
}

// No server could be selected, and one of them has neither refused a connection nor shaken hands.
function isSilence ({ name, reason }) {
  return name === 'MongoServerSelectionError' && [...reason.servers.values()].some(({ type, error }) =>
    type === 'Unknown' && (error === null || error.beforeHandshake === true))
}
