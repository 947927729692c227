// Sends requests just as they are written; an HTTP client would clean them.

import { once } from 'node:events'
import net from 'node:net'

export class Connection {
  #socket
  #received = Buffer.alloc(0)

  static async open (port) {
    const socket = net.connect(port, '127.0.0.1')
    await once(socket, 'connect')
    return new Connection(socket)
  }

  constructor (socket) {
    this.#socket = socket.setTimeout(30_000, () => socket.destroy(new Error('no answer in 30 s')))
  }

  close () {
    this.#socket.destroy()
  }

  /** Sends a method and a target and reads the answer. */
  async ask (request, body = '') {
    const length = body && `content-type: text/csv\r\ncontent-length: ${body.length}\r\n`
    this.#socket.write(`${request} HTTP/1.1\r\nhost: test\r\n${length}\r\n${body}`)
    const head = await this.#readUntil('\r\n\r\n')
    const [statusLine, ...lines] = head.split('\r\n')
    const headers = new Map(lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }))
    const expected = request.startsWith('HEAD ') ? 0 : Number(headers.get('content-length') ?? 0)
    return { status: Number(statusLine.split(' ')[1]), headers, body: await this.#read(expected) }
  }

  async #readUntil (end) {
    for (;;) {
      const at = this.#received.indexOf(end)
      if (at >= 0) {
        const text = this.#received.toString('latin1', 0, at)
        this.#received = this.#received.subarray(at + end.length)
        return text
      }
      await this.#more()
    }
  }

  async #read (length) {
    while (this.#received.length < length) await this.#more()
    const text = this.#received.toString('utf8', 0, length)
    this.#received = this.#received.subarray(length)
    return text
  }

  async #more () {
    const chunk = this.#socket.read() ?? (await once(this.#socket, 'readable'), this.#socket.read())
    if (chunk === null) throw new Error('the connection ended')
    this.#received = Buffer.concat([this.#received, chunk])
  }
}
