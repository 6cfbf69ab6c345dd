import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { releaseMemory } from '../bytes/release-memory.ts'
import { type ConnectionRoute, connectTimeoutMs, type Ended, sendRequest } from './http-exchange.ts'

export interface StreamContent {
  method: 'POST' | 'GET'
  headers: Record<string, string>
  /** Of exactly so many bytes. */
  body: { bytes: AsyncIterable<Uint8Array>; length: number } | null
  /** How long nothing may move, on either side, before it is given up; also the time from the last byte sent to the head. */
  silenceMs: number
  /** The answer ends with an error beyond it. */
  maxAnswerBytes: number
  /** Once it has been waited for so long, it has to come at 8 KB a second at least: a minute unless given. */
  slowAfterMs?: number
  /** Ends it at any moment. */
  signal: AbortSignal
}

export interface OpenStream {
  outcome: 'answered'
  status: number
  headers: IncomingHttpHeaders
  /** As the head says; null when it does not. */
  length: number | null
  /** To be read once, or dropped: a piece is good until the next is asked for. Throws a StreamEnded unless it comes whole. */
  bytes: AsyncGenerator<Uint8Array>
  /** Ends what nobody reads. */
  drop(): void
}

/** An answer that did not come whole. */
export class StreamEnded extends Error {
  readonly code: 'too_large' | 'silent' | 'slow' | 'aborted' | 'reset'

  constructor(code: StreamEnded['code'], cause?: unknown) {
    super(`The answer has ended early: ${code}`, { cause })
    this.code = code
  }
}

/** One request and the beginning of its answer; never throws. */
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
      // Behind the parser's, which copies what of it is the answer's: a listener that was there before would be in front.
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

/** Waits whenever the other side does not take more, so that no more than a piece or two is ever in memory. */
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
    // A copy: the piece is the giver's again with the next one, and may not have left by then.
    if (request.write(Buffer.from(piece)) || request.destroyed) continue
    await roomIn(request)
    if (request.destroyed) return
  }
  if (left !== 0) throw new RangeError(`The body is not of the ${body.length} bytes that it was said to be`)
  moved()
  request.end()
}

/** Resolves once it takes more, or is over. */
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
  // Whoever reads hears of it by the reading.
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
      // What the reader takes to do with a piece is no silence of the other side.
      timer = setTimeout(silent, silenceMs)
      const askedMs = performance.now()
      const { done, value } = await pieces.next()
      clearTimeout(timer)
      if (done === true) break
      size += value.length
      waitedMs += performance.now() - askedMs
      // Who sends a byte now and then would keep a place for hours.
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
    // All may have come, and somebody has stopped reading: nobody would end it.
    if (!response.readableEnded) request.destroy()
  }
}
