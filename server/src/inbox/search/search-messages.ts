import { setImmediate } from 'node:timers/promises'
import { decodeCursor, encodeCursor } from '../../base/cursor.ts'
import type { Fragment, Sql } from '../../base/db.ts'
import { decryptOrNull } from '../../base/encryption/encrypt.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { invalid } from '../../base/errors.ts'
import { isUuid, timeOfId } from '../../base/id.ts'
import type { ScopedSql } from '../conversation/conversation.ts'
import { decryptMessageText, type MessageRow } from '../conversation/message.ts'
import { opaqueWorkspaceId } from '../conversation/queries.ts'
import { messageTermTokens } from './message-tokens.ts'
import { readProgress, type SearchProgress } from './progress.ts'
import { findTerm, type MessageTerm, parseMessageTerm, type Span } from './search-terms.ts'

export interface MessageSearch {
  search: string
  limit: number
  cursor: string | null
}

export interface MessageHit extends Omit<CandidateMessage, 'content'> {
  text: string
  hits: Span[]
}

export interface MessageSearchPage {
  /** Newest arrival first. */
  messages: MessageHit[]
  /** Null when the search is complete. A page can have few or no messages while there are more to search. */
  cursor: string | null
  /** Arrival of the last message searched; null when the search is complete. */
  lookedTo: Date | null
}

/** Where the next page continues: before this message, in this epoch. */
interface SearchPosition {
  before: string
  /** Null while scanning messages that are not indexed yet. */
  epoch: number | null
}

const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
/** Maximum number of messages decrypted per page; rare terms take several pages. */
const maxDecrypted = 1_500
/** Batch sizes: small for the first page of a common word, then doubled. */
const [firstBatchSize, maxBatchSize] = [64, 512]
/** Maximum number of epochs per statement; doubled each time, because a word missing in the newest ones is rare. */
const maxEpochs = 32

/** Searches the texts of a workspace's messages. Throws `InvalidInput` for a cursor of another search. */
export async function searchMessages(
  reader: ScopedSql,
  { search, limit, cursor }: MessageSearch,
): Promise<MessageSearchPage> {
  const { sql, keyring, workspaceId } = reader
  const term = parseMessageTerm(search)
  const from = cursor === null ? { before: highestId, epoch: null } : parseCursor(cursor, keyring, search)
  if (term === null) return { messages: [], cursor: null, lookedTo: null }
  // Read before the messages, so that it covers no tokens missing in a later snapshot.
  const progress = await readProgress(sql, workspaceId)
  const messages: MessageHit[] = []
  let decryptedCount = 0
  for await (const { rows, epoch } of candidatesOf(reader, term, from, progress)) {
    for (const row of rows) {
      decryptedCount++
      const found = row.message === null ? null : decryptAndMatch(keyring, row.message, term)
      if (found !== null) messages.push(found)
      if (messages.length === limit || decryptedCount === maxDecrypted) {
        return { messages, cursor: writeCursor(keyring, search, row.id, epoch), lookedTo: timeOfId(row.id) }
      }
    }
    await setImmediate()
  }
  return { messages, cursor: null, lookedTo: null }
}

function decryptAndMatch(keyring: Keyring, { content, ...row }: CandidateMessage, term: MessageTerm) {
  if (row.kind === 'system') return null
  const text = decryptOrNull(() => decryptMessageText(keyring, { id: row.id, content }))
  const hits = text === null ? null : findTerm(text, term)
  return text === null || hits === null ? null : { ...row, text, hits }
}

interface CandidateBatch {
  rows: Candidate[]
  epoch: number | null
}

/** Returns candidates in page order: messages not yet indexed, then those with the term's tokens. */
async function* candidatesOf(
  reader: ScopedSql,
  term: MessageTerm,
  from: SearchPosition,
  progress: SearchProgress,
): AsyncGenerator<CandidateBatch> {
  const hasNoTokens = messageTermTokens(reader.keyring, term, 0) === null
  const afterId = hasNoTokens ? lowestId : progress.messagesTo
  if (from.epoch === null) {
    yield* batches(null, from.before, (before, limit) => selectMessages(reader, { afterId, before, limit }))
  }
  if (hasNoTokens) return
  // A forged cursor must not start the countdown at a huge number.
  let newest = Math.min(from.epoch ?? progress.epoch, progress.epoch)
  for (let count = 1; newest >= 0; count = Math.min(2 * count, maxEpochs)) {
    const oldest = Math.max(0, newest - count + 1)
    const tokens: number[][] = []
    for (let epoch = newest; epoch >= oldest; epoch--)
      tokens.push(...(messageTermTokens(reader.keyring, term, epoch) ?? []))
    yield* batches(newest, from.before, (before, limit) =>
      selectByTokens(reader, { tokens, upTo: progress.messagesTo, before, limit }),
    )
    newest = oldest - 1
  }
}

const lowestId = '00000000-0000-0000-0000-000000000000'

async function* batches(
  epoch: number | null,
  from: string,
  select: (before: string, limit: number) => Promise<Candidate[]>,
): AsyncGenerator<CandidateBatch> {
  let before = from
  for (let limit = firstBatchSize; ; limit = Math.min(2 * limit, maxBatchSize)) {
    const rows = await select(before, limit)
    if (rows.length > 0) yield { rows, epoch }
    if (rows.length < limit) return
    before = rows.at(-1)?.id ?? before
  }
}

// The cursor reveals neither the search nor anything to test words against.
const digestOf = (keyring: Keyring, search: string): string =>
  keyring.stable('inbox.search.cursor', search).toString('base64url').slice(0, 12)

function writeCursor(keyring: Keyring, search: string, before: string, epoch: number | null): string {
  return encodeCursor(['found', digestOf(keyring, search), before, epoch])
}

function parseCursor(text: string, keyring: Keyring, search: string): SearchPosition {
  const [name, digest, before, epoch, extra] = decodeCursor(text) ?? []
  const isMessageId = typeof before === 'string' && isUuid(before)
  const isEpoch = epoch === null || (Number.isSafeInteger(epoch) && Number(epoch) >= 0)
  if (name !== 'found' || digest !== digestOf(keyring, search) || !isMessageId || !isEpoch || extra !== undefined) {
    throw invalid('cursor', 'is not a cursor of this search', 'query')
  }
  return { before, epoch: epoch === null ? null : Number(epoch) }
}

type CandidateMessage = Pick<
  MessageRow,
  'id' | 'conversation_id' | 'direction' | 'kind' | 'content' | 'actor_type' | 'actor_id' | 'occurred_at'
>

/** Null if there is no such message, or the caller cannot see it. */
interface Candidate {
  id: string
  message: CandidateMessage | null
}

type CandidateRow = CandidateMessage | ({ id: string } & { [name in Exclude<keyof CandidateMessage, 'id'>]: null })

const toCandidate = (row: CandidateRow): Candidate => ({ id: row.id, message: row.content === null ? null : row })

const columns = (sql: Sql) => sql`
  m.conversation_id,
  m.direction,
  m.kind,
  m.content,
  m.actor_type,
  m.actor_id,
  m.occurred_at`

const connectionCondition = ({ sql, connectionIds }: ScopedSql): Fragment =>
  connectionIds.length === 0 ? sql`` : sql`and m.connection_id = any (${[...connectionIds]}::uuid[])`

/** Returns the newest messages in a range, whatever their text. */
async function selectMessages(
  reader: ScopedSql,
  { afterId, before, limit }: { afterId: string; before: string; limit: number },
): Promise<Candidate[]> {
  const { sql } = reader
  const rows = await sql<CandidateMessage[]>`
    select m.id, ${columns(sql)}
    from messages m
    where m.workspace_id = ${reader.workspaceId}
      and m.id > ${afterId}
      and m.id < ${before}
      ${connectionCondition(reader)}
    order by m.id desc
    limit ${limit}`
  return rows.map(toCandidate)
}

interface TokenSearch {
  /** A message has all tokens of at least one set. */
  tokens: readonly number[][]
  /** Last indexed message to search by tokens. */
  upTo: string
  before: string
  limit: number
}

/**
 * Returns the newest messages with the tokens. Collects these first and alone: statistics do not show how rare they
 * are, and the planner may prefer scanning all messages of the workspace in order. Hardly any message of another
 * workspace has them.
 */
async function selectByTokens(reader: ScopedSql, { tokens, upTo, before, limit }: TokenSearch) {
  const { sql } = reader
  const hasTokens = tokens.reduce((either, set) => sql`${either} or s.tokens @> ${set}::integer[]`, sql`false`)
  const workspace = opaqueWorkspaceId(sql, reader.workspaceId)
  const rows = await sql<CandidateRow[]>`
    with tokened as materialized (
      select s.message_id as id
      from (
        select workspace_id, message_id
        from message_search s
        where ${hasTokens}
        offset 0
      ) as s
      where s.workspace_id = ${workspace}
    ),
    candidates as materialized (
      select t.id
      from tokened t
      where t.id <= ${upTo}
        and t.id < ${before}
      order by t.id desc
      limit ${limit}
    )
    select t.id, m.*
    from candidates t
    left join lateral (
      select ${columns(sql)}
      from messages m
      where m.workspace_id = ${workspace}
        and m.id = t.id
        ${connectionCondition(reader)}
      offset 0
    ) as m on true
    order by t.id desc`
  return rows.map(toCandidate)
}
