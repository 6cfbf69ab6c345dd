import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import { newId } from '../../base/id.ts'
import type { ErrorBody } from './error-reply.ts'
import { requestIdHeader } from './request-id.ts'
import { securityHeaders } from './security-headers.ts'

const answers: Record<string, readonly [statusCode: number, statusMessage: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'The address and headers are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'Body is larger than 1 MiB'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive'],
}

/** Answers bytes that are not HTTP, where no request exists yet, in the shape of every other error. */
export function answerBrokenRequests(clock: Clock) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable || answerHasBegun(socket)) {
      socket.destroy()
      return
    }
    const [statusCode, statusMessage] = answers[error.code ?? ''] ?? [400, 'Not a valid HTTP request']
    const body = JSON.stringify({ statusCode, statusMessage } satisfies ErrorBody)
    const headers = {
      ...securityHeaders,
      [requestIdHeader]: newId(clock.now()),
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      date: clock.now().toUTCString(),
      connection: 'close',
    }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.end(`HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\n${lines.join('')}\r\n${body}`)
  }
}

// Bytes after a request that is being answered may be broken too; a second head would garble the first answer.
function answerHasBegun(socket: Socket): boolean {
  const { _httpMessage: message } = socket as Socket & { _httpMessage?: { headersSent: boolean } | null }
  return message?.headersSent === true
}
