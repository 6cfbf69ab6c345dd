import { setImmediate } from 'node:timers/promises'
import { decodeCursor, encodeCursor } from '../../base/cursor.ts'
import type { Sql } from '../../base/db.ts'
import { invalid } from '../../base/errors.ts'
import { isUuid, timeOfId } from '../../base/id.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { openOrNull } from '../../base/sealing/seal.ts'
import type { Scope } from '../conversation/conversation.ts'
import { openText } from '../conversation/message.ts'
import { type Candidate, type FoundRow, selectByTokens, selectMessages } from './message-candidates.ts'
import { messageTermTokens } from './message-tokens.ts'
import { readProgress, type SearchProgress } from './progress.ts'
import { findTerm, type MessageTerm, readMessageTerm, type Span } from './words.ts'

export interface MessageSearch {
  search: string
  limit: number
  cursor: string | null
}

export interface FoundMessage extends Omit<FoundRow, 'content'> {
  text: string
  hits: Span[]
}

export interface MessageSearchPage {
  /** Newest first, as they reached us. */
  messages: FoundMessage[]
  /** Null when all has been looked through. A page may have few, or none, while there is more to be looked through. */
  cursor: string | null
  /** When what was looked at last reached us; null when all has been looked through. */
  lookedTo: Date | null
}

/** Where a page goes on: before this message, in this epoch. */
interface Place {
  before: string
  /** Null while it goes through messages that have no tokens yet. */
  epoch: number | null
}

const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
/** So many messages are opened for a page: what few of them say is looked for on and on, a page at a time. */
const maxOpened = 1_500
/** First few, for a page of a common word; then more and more. */
const [firstAtOnce, mostAtOnce] = [64, 512]
/** Epochs that one statement looks into: more and more, for a word that the newest do not have is rare. */
const maxEpochs = 32

/** What the messages of a workspace say. Throws `InvalidInput` for a cursor of another search. */
export async function searchMessages(
  sql: Sql,
  keyring: Keyring,
  scope: Scope,
  { search, limit, cursor }: MessageSearch,
): Promise<MessageSearchPage> {
  const term = readMessageTerm(search)
  const from = cursor === null ? { before: highestId, epoch: null } : readCursor(cursor, keyring, search)
  if (term === null) return { messages: [], cursor: null, lookedTo: null }
  // Read beforehand, so that it tells of no tokens that a later snapshot does not have.
  const progress = await readProgress(sql, scope.workspaceId)
  const messages: FoundMessage[] = []
  let opened = 0
  for await (const { rows, epoch } of candidatesOf(sql, keyring, scope, term, from, progress)) {
    for (const row of rows) {
      opened++
      const found = row.message === null ? null : open(keyring, row.message, term)
      if (found !== null) messages.push(found)
      if (messages.length === limit || opened === maxOpened) {
        return { messages, ...endAt(keyring, search, { before: row.id, epoch }) }
      }
    }
    await setImmediate()
  }
  return { messages, cursor: null, lookedTo: null }
}

function endAt(keyring: Keyring, search: string, place: Place): Pick<MessageSearchPage, 'cursor' | 'lookedTo'> {
  return { cursor: writeCursor(keyring, search, place), lookedTo: timeOfId(place.before) }
}

function open(keyring: Keyring, { content, ...row }: FoundRow, term: MessageTerm): FoundMessage | null {
  if (row.kind === 'system') return null
  const text = openOrNull(() => openText(keyring, { id: row.id, content }))
  const hits = text === null ? null : findTerm(text, term)
  return text === null || hits === null ? null : { ...row, text, hits }
}

interface Stretch {
  rows: Candidate[]
  epoch: number | null
}

/** In the order of the page: all that have no tokens yet, then those with the tokens of the term. */
async function* candidatesOf(
  sql: Sql,
  keyring: Keyring,
  scope: Scope,
  term: MessageTerm,
  from: Place,
  progress: SearchProgress,
): AsyncGenerator<Stretch> {
  const isUnknown = messageTermTokens(keyring, term, 0) === null
  const behind = isUnknown ? lowestId : progress.messagesTo
  if (from.epoch === null) {
    yield* stretches(null, from.before, (before, limit) => selectMessages(sql, scope, { behind, before, limit }))
  }
  if (isUnknown) return
  // Whoever makes a cursor up does not have it count down from anywhere.
  let newest = Math.min(from.epoch ?? progress.epoch, progress.epoch)
  for (let count = 1; newest >= 0; count = Math.min(2 * count, maxEpochs)) {
    const oldest = Math.max(0, newest - count + 1)
    const tokens: number[][] = []
    for (let epoch = newest; epoch >= oldest; epoch--) tokens.push(...(messageTermTokens(keyring, term, epoch) ?? []))
    yield* stretches(newest, from.before, (before, limit) =>
      selectByTokens(sql, scope, { tokens, upTo: progress.messagesTo, before, limit }),
    )
    newest = oldest - 1
  }
}

const lowestId = '00000000-0000-0000-0000-000000000000'

async function* stretches(
  epoch: number | null,
  from: string,
  select: (before: string, limit: number) => Promise<Candidate[]>,
): AsyncGenerator<Stretch> {
  let before = from
  for (let limit = firstAtOnce; ; limit = Math.min(2 * limit, mostAtOnce)) {
    const rows = await select(before, limit)
    if (rows.length > 0) yield { rows, epoch }
    if (rows.length < limit) return
    before = rows.at(-1)?.id ?? before
  }
}

// A cursor holds no word that was searched for, nor anything to try words on.
const digestOf = (keyring: Keyring, search: string): string =>
  keyring.stable('inbox.search.cursor', search).toString('base64url').slice(0, 12)

function writeCursor(keyring: Keyring, search: string, { before, epoch }: Place): string {
  return encodeCursor(['found', digestOf(keyring, search), before, epoch])
}

function readCursor(text: string, keyring: Keyring, search: string): Place {
  const [name, digest, before, epoch, extra] = decodeCursor(text) ?? []
  const isPlace = typeof before === 'string' && isUuid(before)
  const isEpoch = epoch === null || (Number.isSafeInteger(epoch) && Number(epoch) >= 0)
  if (name !== 'found' || digest !== digestOf(keyring, search) || !isPlace || !isEpoch || extra !== undefined) {
    throw invalid('cursor', 'is not a cursor of this search', 'query')
  }
  return { before, epoch: epoch === null ? null : Number(epoch) }
}
