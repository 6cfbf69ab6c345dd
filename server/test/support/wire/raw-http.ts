import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { App } from '../../../src/base/route.ts'

/** Listens on a free port of the loopback address; returns the port. */
export async function listen(app: App): Promise<number> {
  return Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
}

export interface RawAnswer {
  statusCode: number
  headers: Record<string, string>
  body: string
}

/** Sends raw bytes and reads until the server closes the connection; returns the answers in order. */
export async function exchange(port: number, bytes: string): Promise<RawAnswer[]> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(bytes, 'latin1')
  return parseAnswers(await text(socket))
}

export function parseAnswers(received: string): RawAnswer[] {
  const answers: RawAnswer[] = []
  let rest = received
  while (rest !== '') {
    const [head = '', ...others] = rest.split('\r\n\r\n')
    const [first = '', ...lines] = head.split('\r\n')
    const headers = Object.fromEntries(lines.map((line) => line.split(': ', 2).map((part) => part.toLowerCase())))
    const length = Number(headers['content-length'] ?? 0)
    const after = others.join('\r\n\r\n')
    answers.push({ statusCode: Number(first.split(' ')[1]), headers, body: after.slice(0, length) })
    rest = after.slice(length)
  }
  return answers
}
