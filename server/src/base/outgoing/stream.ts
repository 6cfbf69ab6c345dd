import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { releaseMemory } from '../bytes/release-memory.ts'
import { type ConnectionRoute, connectTimeoutMs, type ExchangeFailure, sendRequest } from './http-exchange.ts'

export interface StreamContent {
  method: 'POST' | 'GET'
  headers: Record<string, string>
  /** Has exactly `length` bytes. */
  body: { bytes: AsyncIterable<Uint8Array>; length: number } | null
  /** Maximum time without progress in either direction, including from the last byte sent to the response head. */
  idleTimeoutMs: number
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
  cancel(): void
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
export function openStream(route: ConnectionRoute, content: StreamContent): Promise<OpenStream | ExchangeFailure> {
  const { signal, idleTimeoutMs } = content
  return sendRequest<OpenStream>(route, content, {
    connectWithinMs: Math.min(connectTimeoutMs, idleTimeoutMs),
    onCreated: ({ request, cancel }) => {
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
    onConnected: ({ request, fail, cancelAfter }) => {
      sendBody(request, content, () => cancelAfter(idleTimeoutMs)).catch((error: unknown) => {
        fail(error)
        request.destroy()
      })
    },
    onResponse: (response, { request, end }) => end(answerOf(request, response, content)),
  })
}

/** Sends the body with backpressure, so that only one or two chunks are in memory. */
async function sendBody(request: ClientRequest, { body }: StreamContent, onProgress: () => void): Promise<void> {
  onProgress()
  if (body === null) {
    request.end()
    return
  }
  request.setHeader('content-length', body.length)
  let left = body.length
  for await (const piece of body.bytes) {
    left -= piece.length
    if (left < 0) break
    onProgress()
    // A copy, because the source reuses the chunk, which may not have been sent by then.
    if (request.write(Buffer.from(piece)) || request.destroyed) continue
    await waitForDrain(request)
    if (request.destroyed) return
  }
  if (left !== 0) throw new RangeError(`The body does not have the announced ${body.length} bytes`)
  onProgress()
  request.end()
}

/** Resolves when the request accepts more or has ended. */
function waitForDrain(request: ClientRequest): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const onReady = () => {
    request.off('drain', onReady).off('close', onReady)
    resolve()
  }
  request.on('drain', onReady).on('close', onReady)
  return promise
}

function answerOf(request: ClientRequest, response: IncomingMessage, content: StreamContent): OpenStream {
  // The reader receives the error.
  response.on('error', () => {})
  const contentLength = response.headers['content-length']
  return {
    outcome: 'answered',
    status: response.statusCode ?? 0,
    headers: response.headers,
    length: contentLength !== undefined && /^\d{1,15}$/.test(contentLength) ? Number(contentLength) : null,
    bytes: readBytes(request, response, content),
    cancel: () => void request.destroy(),
  }
}

const minBytesPerMs = 8

async function* readBytes(
  request: ClientRequest,
  response: IncomingMessage,
  { maxAnswerBytes, idleTimeoutMs, slowAfterMs = 60_000, signal }: StreamContent,
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
      timer = setTimeout(silent, idleTimeoutMs)
      const requestedMs = performance.now()
      const { done, value } = await pieces.next()
      clearTimeout(timer)
      if (done === true) break
      size += value.length
      waitedMs += performance.now() - requestedMs
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
