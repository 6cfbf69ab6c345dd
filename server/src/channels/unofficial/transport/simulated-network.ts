import type { OutgoingRequest } from '../../../base/outgoing/exchange.ts'
import type { Outgoing } from '../../../base/outgoing/guarded-fetch.ts'
import type { FileToUpload } from '../../media-way.ts'
import { type Loose, objectOf, readJson, textOf } from '../../waba/json.ts'

/**
 * What became of a call. `refused` says that the network did nothing, `not_sent` that it never received it; after `lost`
 * it may have done it.
 */
export type NetworkAnswer =
  | { outcome: 'answered'; body: Loose; ms: number }
  | { outcome: 'refused' }
  | { outcome: 'not_sent' }
  | { outcome: 'lost' }

/** As the guarded way out takes them. */
type CallOptions = Partial<Pick<OutgoingRequest, 'timeoutMs' | 'mayRepeat' | 'maySend'>>

export interface SimulatedNetwork {
  /** Calls the sockets of the simulator, or one of them; never throws. */
  call(path: string, body: object, options?: CallOptions): Promise<NetworkAnswer>
  /** Gives the network a file. Returns how it calls it; null when it does not take it. */
  give(socketId: string, file: FileToUpload): Promise<string | null>
  /** Closes a socket, as far as that can be said in time. */
  close(socketId: string): Promise<void>
}

const timeoutMs = 10_000
const closeTimeoutMs = 2_000
const maxAnswerBytes = 16 * 1024 * 1024

export function simulatedNetwork(outgoing: Outgoing, baseUrl: string): SimulatedNetwork {
  const call: SimulatedNetwork['call'] = async (path, body, options = {}) => {
    const answer = await outgoing.call({
      method: 'POST',
      url: `${baseUrl}/linked/sockets${path}`,
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(body),
      timeoutMs,
      maxAnswerBytes,
      ...options,
    })
    if (answer.outcome === 'failed') return { outcome: answer.hasLeft ? 'lost' : 'not_sent' }
    if (answer.status >= 400 && answer.status < 500) return { outcome: 'refused' }
    const read = answer.status < 300 && answer.isWhole ? readJson(answer.body.toString('utf8')) : null
    return read === null ? { outcome: 'lost' } : { outcome: 'answered', body: objectOf(read), ms: answer.ms }
  }
  return {
    call,
    give: (socketId, file) => give(outgoing, `${baseUrl}/linked/sockets/${socketId}/files`, file),
    close: async (socketId) => {
      await call(`/${socketId}/close`, {}, { timeoutMs: closeTimeoutMs, mayRepeat: true })
    },
  }
}

const silenceMs = 30_000

async function give(
  outgoing: Outgoing,
  url: string,
  { mimeType, name, size, bytes }: FileToUpload,
): Promise<string | null> {
  const query = new URLSearchParams({ type: mimeType, ...(name !== null && { name }) })
  const answer = await outgoing.stream({
    method: 'POST',
    url: `${url}?${query}`,
    headers: { accept: 'application/json', 'content-type': 'application/octet-stream' },
    body: { bytes: bytes(), length: size },
    silenceMs,
    maxAnswerBytes,
    signal: new AbortController().signal,
  })
  if (answer.outcome === 'failed') return null
  const pieces: Uint8Array[] = []
  try {
    for await (const piece of answer.bytes) pieces.push(Buffer.from(piece))
  } catch {
    return null
  }
  return textOf(objectOf(readJson(Buffer.concat(pieces).toString('utf8'))).fileId)
}
