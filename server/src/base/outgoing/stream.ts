import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { releaseMemory } from '../bytes/release-memory.ts'
import { type ConnectionRoute, connectTimeoutMs, type Ended, sendRequest } from './http-exchange.ts'

export interface StreamContent {
  method: 'POST' | 'GET'
  headers: Record<string, string>
  /** Has exactly `length` bytes. */
  body: { bytes: AsyncIterable<Uint8Array>; length: number } | null
  /** Maximum time without progress in either direction, including from the last byte sent to the response head. */
  silenceMs: number
  /** The response fails beyond this size. */
  maxAnswerBytes: number
  /** Time of waiting for the response after which it must average 8 KB per second; default 60 s. */
  slowAfterMs?: number
  /** Aborts it at any time. */
  signal: AbortSignal
}

export interface OpenStream {
  outcome: 'answered'
  status: number
  headers: IncomingHttpHeaders
  /** From the response head; null if absent. */
  length: number | null
  /** Read once, or drop. A chunk is valid until the next is requested. Throws StreamEnded unless it is complete. */
  bytes: AsyncGenerator<Uint8Array>
  /** Aborts a response that is not read. */
  drop(): void
}

/** The response is incomplete. */
export class StreamEnded extends Error {
  readonly code: 'too_large' | 'silent' | 'slow' | 'aborted' | 'reset'

  constructor(code: StreamEnded['code'], cause?: unknown) {
    super(`The response ended early: ${code}`, { cause })
    this.code = code
  }
}

/** Performs one request and returns the start of its response; never throws. */
export function openStream(way: ConnectionRoute, content: StreamContent): Promise<OpenStream | Ended> {
  const { signal, silenceMs } = content
  return sendRequest<OpenStream>(way, content, {
    connectWithinMs: Math.min(connectTimeoutMs, silenceMs),
    begun: ({ request, cancel }) => {
      const abort = () => cancel('timeout')
      request.once('close', () => {
        signal.removeEventListener('abort', abort)
        request.socket?.off('data', releaseMemory)
      })
      // Added after the parser's listener, which copies the response's bytes first.
      request.once('socket', (socket) => socket.on('data', releaseMemory))
      if (signal.aborted) abort()
      else signal.addEventListener('abort', abort, { once: true })
    },
    send: ({ request, fail, cancelAfter }) => {
      sendBody(request, content, () => cancelAfter(silenceMs)).catch((error: unknown) => {
        fail(error)
        request.destroy()
      })
    },
    hear: (response, { request, end }) => end(answerOf(request, response, content)),
  })
}

/** Sends the body with backpressure, so that only one or two chunks are in memory. */
async function sendBody(request: ClientRequest, { body }: StreamContent, moved: () => void): Promise<void> {
  moved()
  if (body === null) {
    request.end()
    return
  }
  request.setHeader('content-length', body.length)
  let left = body.length
  for await (const piece of body.bytes) {
    left -= piece.length
    if (left < 0) break
    moved()
    // A copy, because the source reuses the chunk, which may not have been sent by then.
    if (request.write(Buffer.from(piece)) || request.destroyed) continue
    await roomIn(request)
    if (request.destroyed) return
  }
  if (left !== 0) throw new RangeError(`The body does not have the announced ${body.length} bytes`)
  moved()
  request.end()
}

/** Resolves when the request accepts more or has ended. */
function roomIn(request: ClientRequest): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const leave = () => {
    request.off('drain', leave).off('close', leave)
    resolve()
  }
  request.on('drain', leave).on('close', leave)
  return promise
}

function answerOf(request: ClientRequest, response: IncomingMessage, content: StreamContent): OpenStream {
  // The reader receives the error.
  response.on('error', () => {})
  const said = response.headers['content-length']
  return {
    outcome: 'answered',
    status: response.statusCode ?? 0,
    headers: response.headers,
    length: said !== undefined && /^\d{1,15}$/.test(said) ? Number(said) : null,
    bytes: readBytes(request, response, content),
    drop: () => void request.destroy(),
  }
}

const minBytesPerMs = 8

async function* readBytes(
  request: ClientRequest,
  response: IncomingMessage,
  { maxAnswerBytes, silenceMs, slowAfterMs = 60_000, signal }: StreamContent,
): AsyncGenerator<Uint8Array> {
  let [size, waitedMs] = [0, 0]
  let isSilent = false
  let timer: NodeJS.Timeout | undefined
  const silent = () => {
    isSilent = true
    request.destroy()
  }
  try {
    const pieces = response[Symbol.asyncIterator]()
    for (;;) {
      // Time that the reader spends on a chunk does not count.
      timer = setTimeout(silent, silenceMs)
      const askedMs = performance.now()
      const { done, value } = await pieces.next()
      clearTimeout(timer)
      if (done === true) break
      size += value.length
      waitedMs += performance.now() - askedMs
      // A server that sends a byte now and then would occupy a slot for hours.
      if (waitedMs > slowAfterMs && size < waitedMs * minBytesPerMs) throw new StreamEnded('slow')
      if (size > maxAnswerBytes) throw new StreamEnded('too_large')
      yield value
      releaseMemory(value)
    }
    if (!response.complete) throw new StreamEnded('reset')
  } catch (error) {
    if (error instanceof StreamEnded) throw error
    throw new StreamEnded(isSilent ? 'silent' : signal.aborted ? 'aborted' : 'reset', error)
  } finally {
    clearTimeout(timer)
    // The response may be buffered completely while the reader has stopped: the request would never end.
    if (!response.readableEnded) request.destroy()
  }
}
