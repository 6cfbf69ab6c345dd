import { createDecipheriv, createHmac, hkdfSync, randomUUID, timingSafeEqual } from 'node:crypto'
import { releaseMemory } from '../../base/bytes/release-memory.ts'
import { StreamEnded } from '../../base/outgoing/stream.ts'
import type { MediaSource } from '../channel-event.ts'
import type { SessionConnection } from '../connection/connection.ts'
import {
  type FileToUpload,
  MediaDecryptionError,
  type MediaLimits,
  type MediaTransport,
  type OpenedMedia,
  type UploadResult,
} from '../media-transport.ts'
import { agentHeader, cloudLimits, toOpenedMedia } from '../waba/cloud-media.ts'
import type { PlatformHttp } from '../waba/platform-call.ts'
import { requestSend, type SessionConnectorDeps } from './send/connector.ts'
import { type NewSessionSend, takeUploadResult, waitForSend } from './send/sends.ts'

type LinkedMediaDeps = Pick<PlatformHttp, 'outgoing'> & Parameters<typeof uploadToNetwork>[0]
type Linked = Extract<MediaSource, { by: 'linked' }>

const megabyte = 1024 * 1024
const networkUrl = 'https://mmg.whatsapp.net'
const networkHost = /(?:^|\.)whatsapp\.net$/
const idleTimeoutMs = 15_000
const [macBytes, blockBytes] = [10, 16]

/** Labels from which the network derives a file's keys, by the start of its type. */
const purposes: readonly [type: RegExp, purpose: string][] = [
  [/^(?:image|sticker)/i, 'Image'],
  [/^(?:video|ptv|gif)/i, 'Video'],
  [/^(?:audio|ptt|voice)/i, 'Audio'],
  [/^document/i, 'Document'],
]

/** Limits for messages between people. */
const limits: MediaLimits = {
  ...cloudLimits,
  image: { bytes: 16 * megabyte, types: ['image/jpeg', 'image/png', 'image/webp'] },
  video: { bytes: 64 * megabyte, types: ['video/mp4', 'video/3gpp'] },
}

/**
 * Media transport of linked devices. The network stores files encrypted with a key from the message. Downloads do not
 * use Baileys, which connects to any host that a message names, bypassing the SSRF protection, and does not verify the
 * HMAC that detects changes.
 */
export const linkedMedia = (deps: LinkedMediaDeps): MediaTransport<SessionConnection> => ({
  limits,
  maxCaptionLength: 1024,
  maxDownloadBytes: 100 * megabyte,
  open: async ({ settings }, source, maxBytes, signal) => {
    const keys = source.by === 'linked' ? deriveKeys(source) : null
    const url = source.by === 'linked' ? urlOf(settings.baseUrl, source) : null
    if (keys === null || url === null) return { outcome: 'refused', errorCode: 'invalid_source' }
    const maxAnswerBytes = maxBytes + blockBytes + macBytes
    const answer = await deps.outgoing.stream({
      method: 'GET',
      url,
      headers: { ...agentHeader, ...(settings.baseUrl === null && { origin: 'https://web.whatsapp.com' }) },
      body: null,
      idleTimeoutMs,
      maxAnswerBytes,
      signal,
    })
    return decryptOpened(toOpenedMedia(answer, maxAnswerBytes), keys, maxBytes)
  },
  upload: (connection, file, signal) => uploadToNetwork(deps, connection, file, signal),
})

function decryptOpened(opened: OpenedMedia, keys: Keys, maxBytes: number): OpenedMedia {
  // The network keeps files for some weeks, then answers 404.
  if (opened.outcome === 'failed' && opened.errorCode === 'http_404') return { outcome: 'gone', errorCode: 'http_404' }
  if (opened.outcome !== 'opened') return opened
  // Size and type in the answer are those of the ciphertext.
  return { ...opened, bytes: decrypt(opened.bytes, keys, maxBytes), size: null, mimeType: null }
}

/** Returns the file's URL; null unless it is on a host of the network, whatever the message says. */
function urlOf(baseUrl: string | null, { url, directPath }: Linked): string | null {
  const base = baseUrl ?? networkUrl
  if (directPath !== null) return /^\/(?!\/)/.test(directPath) ? base + directPath : null
  if (url === null || !URL.canParse(url)) return null
  const { protocol, hostname, port, origin } = new URL(url)
  if (baseUrl !== null) return origin === new URL(baseUrl).origin ? url : null
  return protocol === 'https:' && port === '' && networkHost.test(hostname) ? url : null
}

interface Keys {
  iv: Buffer
  cipher: Buffer
  mac: Buffer
}

function deriveKeys({ type, mediaKey }: Linked): Keys | null {
  const [, purpose] = purposes.find(([of]) => of.test(type)) ?? []
  const secret = Buffer.from(mediaKey, 'base64')
  if (purpose === undefined || secret.length !== 32) return null
  const keys = Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(32), `WhatsApp ${purpose} Keys`, 112))
  return { iv: keys.subarray(0, 16), cipher: keys.subarray(16, 48), mac: keys.subarray(48, 80) }
}

/**
 * Decrypts AES-256-CBC followed by a truncated HMAC over all of it. Changes are detected only at the end, so chunks
 * must not be used before. A chunk is valid until the next one is requested.
 */
export async function* decrypt(
  bytes: AsyncIterable<Uint8Array>,
  { iv, cipher, mac }: Keys,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  const decipher = createDecipheriv('aes-256-cbc', cipher, iv)
  const hmac = createHmac('sha256', mac).update(iv)
  let [tail, size] = [Buffer.alloc(0), 0]
  for await (const piece of bytes) {
    // The last bytes received so far may be the HMAC.
    const received = Buffer.concat([tail, piece])
    const end = Math.max(0, received.length - macBytes)
    hmac.update(received.subarray(0, end))
    const opened = decipher.update(received.subarray(0, end))
    tail = Buffer.from(received.subarray(end))
    releaseMemory(received)
    size += opened.length
    if (size > maxBytes) throw new StreamEnded('too_large')
    if (opened.length > 0) yield opened
    releaseMemory(opened)
  }
  const digest = hmac.digest().subarray(0, macBytes)
  if (tail.length !== macBytes || !timingSafeEqual(digest, tail)) throw new MediaDecryptionError()
  const rest = finishDecryption(() => decipher.final())
  if (size + rest.length > maxBytes) throw new StreamEnded('too_large')
  if (rest.length > 0) yield rest
}

function finishDecryption(end: () => Buffer): Buffer {
  try {
    return end()
  } catch (cause) {
    throw new MediaDecryptionError(cause)
  }
}

type Deps = Omit<SessionConnectorDeps, 'ackMs' | 'elapsedMs'>

const defaultPollMs = 500
/** The process that holds the session must start within this time. */
const startTimeoutMs = 20_000
/** Shorter than the network keeps files: an upload is used at once. */
const uploadLifetimeMs = 86_400_000

/** Uploads a file through the process that holds the session's socket. */
export async function uploadToNetwork(
  deps: Deps,
  { workspaceId, id: connectionId }: SessionConnection,
  file: Pick<FileToUpload, 'id'>,
  signal: AbortSignal,
): Promise<UploadResult> {
  const send: NewSessionSend = {
    ...{ workspaceId, connectionId, id: randomUUID(), kind: 'file', correlator: null },
    content: { give: file.id },
    leftMs: () => startTimeoutMs,
  }
  if (!(await requestSend(deps, send))) return failed('session_not_held')
  const { db, keyStore, clock, pollMs = defaultPollMs } = deps
  const end = await waitForSend(db, send, pollMs, () => signal.aborted)
  switch (end.state) {
    case 'accepted': {
      const keyring = await keyStore.keyring(workspaceId)
      const platformId = await db.tx((tx) => takeUploadResult(tx, keyring, send))
      if (platformId === null) return failed('session_lost')
      return { outcome: 'taken', platformId, livesUntil: new Date(clock.now().getTime() + uploadLifetimeMs) }
    }
    case 'refused':
      return { outcome: 'refused', errorCode: end.errorCode ?? 'unknown' }
    case 'cancelled':
      return failed(end.errorCode ?? 'not_sent')
    case 'unclaimed':
      return failed('session_not_open')
    case 'lost':
    case 'late':
      return failed('session_lost')
  }
}

const failed = (errorCode: string): UploadResult => ({ outcome: 'failed', errorCode, isDown: false })
