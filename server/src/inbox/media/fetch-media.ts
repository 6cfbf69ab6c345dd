import { type Loop, startLoop } from '../../base/async/loop.ts'
import type { Tx } from '../../base/db.ts'
import { newId } from '../../base/id.ts'
import type { Log } from '../../base/log.ts'
import { StreamEnded } from '../../base/outgoing/stream.ts'
import type { RunStep } from '../../base/run-step.ts'
import { adapterOf, type ChannelAdapters } from '../../channels/adapter.ts'
import type { Connection } from '../../channels/connection/connection.ts'
import { MediaDecryptionError, type OpenedMedia } from '../../channels/media-transport.ts'
import { encryptFile, type FileKey } from '../../media/encrypted-file.ts'
import { type MediaStore, StoreError } from '../../media/store/store.ts'
import { type ChangeDeps, publishMedia } from '../conversation/conversation.ts'
import { type Claim, recordFetched, recordProblem, renewClaim } from './fetch-queries.ts'
import { type DetectedFile, findMismatch, inspectFile, safeName } from './inspect-file.ts'
import type { MediaDetails, MediaState } from './media.ts'
import { decryptDetails, encryptDetails, encryptFileKeys, type FileKeys } from './media.ts'
import type { Preview, Previews } from './preview.ts'
import { storePreview } from './preview.ts'

export interface FetchDeps extends ChangeDeps {
  log: Log
  store: MediaStore
  adapters: ChannelAdapters
  /** Null for a removed connection. */
  openConnection: (workspaceId: string, id: string) => Promise<Connection | null>
  /** Records that the platform rejects the connection's credentials. */
  recordOutage: (connection: Connection, errorCode: string) => Promise<void>
  previews: Previews
  /** Called after each attempt with the new state of the row, or the code of a store error. */
  observe: (result: string, ms: number) => void
  /** Returns a number in 0…1 for retry jitter. */
  random: () => number
  step: RunStep<'open' | 'store' | 'preview' | 'settle'>
}

/** Lifetime of a claim, and the interval at which it is renewed. */
export const leaseMs = 60_000
const renewEveryMs = 20_000
/** Limit for servers that send bytes too slowly and would occupy a slot for days. */
const maxFetchMs = 15 * 60_000

interface FetchedMedia {
  kind: 'here'
  details: MediaDetails
  keys: FileKeys
  storedAs: string
  previewStoredAs: string | null
  bytes: number
}

interface Fetch {
  claim: Claim
  declared: MediaDetails
  signal: AbortSignal
  /** Names written to the store that no row refers to yet. */
  stored: string[]
}

/**
 * Fetches one file that this process has claimed. The process can be killed at any step: the row stays `coming` until
 * the one transaction that records the file, and a cleanup job deletes files without a row.
 */
export async function fetchMedia(deps: FetchDeps, first: Claim, stop: AbortSignal): Promise<void> {
  const { log, step } = deps
  const startedMs = performance.now()
  const lease = startClaimRenewal(deps, first, stop)
  const stored: string[] = []
  let outcome: FetchedMedia | FetchProblem
  let isStoreError = false
  try {
    const keyring = await deps.keyStore.keyring(first.workspaceId)
    const declared = decryptDetails(keyring, first.id, first.details)
    outcome = await fetchFile(deps, { claim: first, declared, signal: lease.signal, stored })
  } catch (error) {
    outcome = problemOf(error)
    isStoreError = error instanceof StoreError
    if (outcome.code === 'internal' || isStoreError)
      log.warn('failed to store a downloaded file; retrying', { ...fieldsOf(first), code: outcome.code }, error)
  }
  if (outcome.kind === 'failed' && stop.aborted) outcome = { kind: 'failed', code: stoppedCode }
  const claim = await lease.end()
  const settled = await step('settle', () => recordOutcome(deps, claim, outcome))
  if (settled !== null)
    deps.observe(isStoreError && 'code' in outcome ? outcome.code : settled, performance.now() - startedMs)
  // If settling itself fails, the row may refer to the files.
  if (settled === 'here') return
  for (const name of stored) await removeStored(deps, claim, name)
}

/** Deletes a file; if that fails, the cleanup job does. */
async function removeStored({ store, log }: FetchDeps, claim: Claim, name: string): Promise<void> {
  try {
    await store.remove(name)
  } catch (error) {
    log.warn('failed to delete an unreferenced file', fieldsOf(claim), error)
  }
}

async function fetchFile(deps: FetchDeps, fetch: Fetch): Promise<FetchedMedia | FetchProblem> {
  const opened = await deps.step('open', () => openFromPlatform(deps, fetch))
  if (opened.outcome !== 'opened') return problemOfOpened(opened)
  const file = await deps.step('store', () => storeFile(deps, fetch, opened.bytes))
  if ('kind' in file) return file
  const { secret, detected } = file
  const { declared } = fetch
  const expected = { size: opened.size ?? declared.size ?? null, sha256: opened.sha256 ?? declared.sha256 ?? null }
  const mismatch = findMismatch(expected, detected)
  if (mismatch !== null) return { kind: 'mismatch', code: mismatch }
  const preview = await deps.step('preview', () =>
    storePreview(deps, { stored: fetch.stored, workspaceId: fetch.claim.workspaceId }, secret, detected),
  )
  return {
    kind: 'here',
    details: detailsOf(declared, opened, detected, preview),
    keys: { file: Buffer.from(secret.key), preview },
    storedAs: secret.id,
    previewStoredAs: preview?.storedAs ?? null,
    bytes: detected.bytes,
  }
}

async function openFromPlatform(deps: FetchDeps, { claim, declared, signal }: Fetch): Promise<OpenedMedia> {
  const connection = await deps.openConnection(claim.workspaceId, claim.connectionId)
  if (connection === null) return { outcome: 'gone', errorCode: 'connection_removed' }
  const transport = adapterOf(deps.adapters, connection).media
  if (transport === undefined || declared.source === undefined) return { outcome: 'refused', errorCode: 'no_source' }
  const { maxDownloadBytes } = transport
  if (typeof declared.size === 'number' && declared.size > maxDownloadBytes)
    return { outcome: 'too_large', size: declared.size }
  const opened = await transport.open(connection, declared.source, maxDownloadBytes, signal)
  if (opened.outcome === 'failed' && opened.isDown) await deps.recordOutage(connection, opened.errorCode)
  return opened
}

function problemOfOpened(opened: Exclude<OpenedMedia, { outcome: 'opened' }>): FetchProblem {
  if (opened.outcome === 'too_large') return { kind: 'too_large', code: 'too_large' }
  return { kind: opened.outcome, code: opened.errorCode }
}

/** Encrypts the file into the store while downloading it. */
async function storeFile(
  { store, clock }: FetchDeps,
  { stored }: Fetch,
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ secret: FileKey; detected: DetectedFile } | FetchProblem> {
  // A new name for each attempt: a process that takes over a claim never writes the same file as another.
  const id = newId(clock.now())
  const inspected = inspectFile(bytes)
  const encrypted = encryptFile(id, inspected.bytes)
  stored.push(id)
  try {
    await store.put(id, encrypted.stored)
  } catch (error) {
    // A store may wrap errors of its source.
    const failure = inspected.failure()
    if (failure === undefined) throw error
    return problemOf(failure)
  }
  const detected = await inspected.detected()
  return { secret: { id, key: encrypted.key, bytes: detected.bytes }, detected }
}

/** Returns the details of a stored file, without the source and its key. */
function detailsOf(
  { source: _, ...declaredDetails }: MediaDetails,
  { mimeType }: { mimeType: string | null },
  detected: DetectedFile,
  preview: Preview | null,
): MediaDetails {
  return {
    ...declaredDetails,
    name: typeof declaredDetails.name === 'string' ? safeName(declaredDetails.name) : null,
    mimeType: declaredDetails.mimeType ?? mimeType,
    realType: detected.realType,
    size: detected.bytes,
    sha256: detected.sha256,
    width: preview?.width ?? declaredDetails.width ?? null,
    height: preview?.height ?? declaredDetails.height ?? null,
    thumbnail: preview?.placeholder ?? declaredDetails.thumbnail ?? null,
  }
}

/** Returns the new state of the row; null if another process has claimed it or it was deleted. */
async function recordOutcome(deps: FetchDeps, claim: Claim, outcome: FetchedMedia | FetchProblem) {
  const { db, keyStore, clock, log } = deps
  const { workspaceId, id: mediaId, messageId } = claim
  const now = clock.now()
  const publish = (tx: Tx, conversationId: string, state: MediaState) =>
    publishMedia(tx, { workspaceId, conversationId, messageId, mediaId, state })
  if (outcome.kind === 'here') {
    const { details, keys, storedAs, previewStoredAs, bytes } = outcome
    const keyring = await keyStore.keyring(workspaceId)
    const encrypted = {
      details: encryptDetails(keyring, mediaId, details),
      fileKey: encryptFileKeys(keyring, mediaId, keys),
    }
    return db.tx(async (tx) => {
      const settled = await recordFetched(tx, claim, { ...encrypted, storedAs, previewStoredAs, bytes }, now)
      if (settled === undefined) return null
      publish(tx, settled.conversationId, 'here')
      return 'here'
    })
  }
  const next = afterProblem(outcome, claim, now, deps.random())
  const failure = outcome.code.slice(0, 60)
  log.warn('failed to download a file', { ...fieldsOf(claim), code: failure, attempt: claim.tries })
  return db.tx(async (tx) => {
    const settled = await recordProblem(tx, claim, { ...next, failure }, now)
    if (settled === undefined) return null
    if (next.state !== 'coming') publish(tx, settled.conversationId, next.state)
    return next.state
  })
}

function problemOf(error: unknown): FetchProblem {
  if (error instanceof StreamEnded) {
    return error.code === 'too_large'
      ? { kind: 'too_large', code: 'too_large' }
      : { kind: 'failed', code: `stream_${error.code}` }
  }
  if (error instanceof MediaDecryptionError) return { kind: 'mismatch', code: 'does_not_open' }
  return { kind: 'failed', code: error instanceof StoreError ? `store_${error.kind}` : 'internal' }
}

const fieldsOf = ({ workspaceId, connectionId, conversationId }: Claim) => ({
  workspaceId,
  connectionId,
  conversationId,
})

interface ClaimRenewal {
  /** Aborted when the claim is lost, on timeout, and when the process stops. */
  signal: AbortSignal
  /** Aborts the fetch and returns the latest claim. */
  end(): Promise<Claim>
}

function startClaimRenewal({ db, clock, log }: FetchDeps, first: Claim, stop: AbortSignal): ClaimRenewal {
  let claim = first
  const controller = new AbortController()
  const end = () => controller.abort()
  const limit = setTimeout(end, maxFetchMs).unref()
  stop.addEventListener('abort', end, { once: true })
  if (stop.aborted) end()
  const renew = async () => {
    const now = clock.now()
    const until = new Date(now.getTime() + leaseMs)
    if (await renewClaim(db, claim, until, now)) claim = { ...claim, until }
    else end()
  }
  const loop: Loop = startLoop({ firstAfterMs: renewEveryMs, pauseMs: renewEveryMs }, renew, (error) =>
    log.warn('failed to renew a download lease', fieldsOf(first), error),
  )
  return {
    signal: controller.signal,
    end: async () => {
      clearTimeout(limit)
      stop.removeEventListener('abort', end)
      // No renewal may run while the claim is settled.
      await loop.stop()
      end()
      return claim
    },
  }
}

const [secondMs, hourMs, weekMs] = [1_000, 3_600_000, 604_800_000]
const maxJitter = 0.2
/** Attempts before a possibly transient problem is treated as final, and the retry step they start at. */
const uncertainTries = 3
const uncertainStep = 4

/** The process is stopping; says nothing about the file. */
const stoppedCode = 'stopped'

/** Why a file was not fetched. `code` is ours or the platform's, for troubleshooting. */
interface FetchProblem {
  kind: 'gone' | 'too_large' | 'refused' | 'failed' | 'mismatch'
  code: string
}

type NextStep = { state: 'coming'; dueAt: Date } | { state: Exclude<MediaState, 'coming' | 'here'>; dueAt: null }

/**
 * Returns the next state after a problem; `tries` includes this attempt. Retries for a week: the platform keeps files
 * for a month. `random` is in 0…1.
 */
export function afterProblem(
  { kind, code }: FetchProblem,
  { tries, createdAt }: { tries: number; createdAt: Date },
  now: Date,
  random: number,
): NextStep {
  const isUncertain = tries < uncertainTries
  const after = (step: number): NextStep => ({
    state: 'coming',
    dueAt: new Date(now.getTime() + retryDelayMs(step, random)),
  })
  if (code === stoppedCode) return after(1)
  // A platform may announce a message before the file is available everywhere; expired URLs are requested again.
  const isLost = kind === 'gone' || (kind === 'failed' && code === 'http_404')
  if (isUncertain && (isLost || kind === 'mismatch')) return after(uncertainStep + tries - 1)
  if (isLost) return { state: 'gone', dueAt: null }
  if (kind === 'mismatch') return { state: 'refused', dueAt: null }
  if (kind !== 'failed') return { state: kind, dueAt: null }
  const retry = after(tries)
  // A manual retry may come long after the week.
  const isExpired = now.getTime() - createdAt.getTime() >= weekMs && !isUncertain
  return isExpired ? { state: 'failed', dueAt: null } : retry
}

/** Returns an exponential delay from one second to one hour. */
export function retryDelayMs(tries: number, random: number): number {
  const delayMs = Math.min(secondMs * 2 ** Math.min(tries - 1, 20), hourMs)
  return Math.round(delayMs * (1 + maxJitter * random))
}
