import { isDistributed } from '../../base/citus/distributed-sql.ts'
import type { Db, Tx } from '../../base/db.ts'
import { decryptOrNull } from '../../base/encryption/encrypt.ts'
import { firstIdAt } from '../../base/id.ts'
import { collectChangedIds } from '../../base/pubsub.ts'
import { touchedConversations } from '../conversation/activity-columns.ts'
import { type ChangeDeps, conversationsTopic, inTransaction, type WorkspaceTx } from '../conversation/conversation.ts'
import { decryptContact } from '../conversation/encrypted-conversation.ts'
import { decryptMessageText, type MessageRow } from '../conversation/message.ts'
import { conversationTokens } from './conversation-tokens.ts'
import { epochSize, messageTokens } from './message-tokens.ts'
import {
  claimProgress,
  createAllProgress,
  type SearchProgress,
  storeConversationTokens,
  storeMessageTokens,
} from './progress.ts'

const maxRunMs = 2_000
const pauseMs = 10_000
const batchSize = 500
const allEveryMs = 300_000
/**
 * Older rows are committed, unless a transaction that started earlier is still open: writing transactions take moments,
 * and clocks of machines differ less.
 */
export const settledMs = 60_000

/** Collects workspaces with changes and indexes them once the changes are settled. */
export interface InboxIndexer {
  /** Whether there are changes and the indexer is not paused. */
  isDue(): boolean
  /** Returns the number of rows processed. Pauses afterwards, unless the time was not enough. */
  work(): Promise<number>
}

export function createInboxIndexer(deps: ChangeDeps): InboxIndexer {
  const changedIds = collectChangedIds(deps, { topics: [conversationsTopic], allEveryMs })
  const changedAtMs = new Map<string, number>()
  let pausedUntilMs = Number.NEGATIVE_INFINITY
  let checksAll = true
  const isPaused = (nowMs: number): boolean => nowMs < pausedUntilMs && nowMs > pausedUntilMs - pauseMs
  return {
    isDue: () => !isPaused(deps.clock.now().getTime()) && (checksAll || changedAtMs.size > 0 || changedIds.hasAny()),
    work: async () => {
      const nowMs = deps.clock.now().getTime()
      if (isPaused(nowMs)) return 0
      const changed = changedIds.take()
      if (changed === null) checksAll = true
      for (const id of changed ?? []) changedAtMs.set(id.slice(0, id.indexOf(' ')), nowMs)
      const workspaceIds = checksAll ? null : [...changedAtMs.keys()]
      const { processed, settledTo, isTimedOut } = await indexPending(deps, workspaceIds)
      if (!isTimedOut) {
        checksAll = false
        for (const [id, atMs] of changedAtMs) if (atMs < settledTo.getTime()) changedAtMs.delete(id)
        pausedUntilMs = nowMs + pauseMs
      }
      return processed
    },
  }
}

/** Indexes all settled rows, for at most two seconds. Returns the number of rows processed. */
export async function indexInbox(deps: ChangeDeps): Promise<number> {
  return (await indexPending(deps, null)).processed
}

interface IndexRun {
  processed: number
  settledTo: Date
  /** Whether the run stopped at the time limit. */
  isTimedOut: boolean
}

/** Indexes these workspaces, or all, in turns. A failing one does not block others; throws the first error. */
async function indexPending(deps: ChangeDeps, workspaceIds: readonly string[] | null): Promise<IndexRun> {
  if (workspaceIds?.length === 0) return { processed: 0, settledTo: new Date(0), isTimedOut: false }
  const endsAt = performance.now() + maxRunMs
  const settledTo = await readSettled(deps)
  const failures: unknown[] = []
  let processed = 0
  for (;;) {
    let countOfRound = 0
    for (const workspaceId of await listUnindexed(deps.db, workspaceIds, settledTo)) {
      if (performance.now() > endsAt) return { processed, settledTo, isTimedOut: true }
      const count = await indexNext(deps, workspaceId, settledTo).catch((error: unknown) => {
        failures.push(error)
        return 0
      })
      countOfRound += count
      processed += count
    }
    if (failures.length > 0) throw failures[0]
    if (countOfRound === 0) return { processed, settledTo, isTimedOut: false }
  }
}

// A position is a time once everything before it is indexed, so that it contains no id of a row that may be erased.

/** Returns the time up to which all transactions have ended: rows that appear later started later. */
async function readSettled({ db, clock }: ChangeDeps): Promise<Date> {
  const now = clock.now().getTime()
  const [row] = await db.sql<{ ms: number }[]>`
    select coalesce(extract(epoch from max(clock_timestamp() - xact_start)) * 1000, 0)::double precision as ms
    from pg_stat_activity
    where datname = current_database()
      and usename = current_user
      and backend_type = 'client backend'
      and pid <> pg_backend_pid()`
  return new Date(now - settledMs - Math.max(0, row?.ms ?? 0))
}

const lowestId = '00000000-0000-0000-0000-000000000000'

async function listUnindexed(db: Db, workspaceIds: readonly string[] | null, settledTo: Date): Promise<string[]> {
  const { sql } = db
  const filter = workspaceIds === null ? sql`` : sql`and w.id = any (${[...workspaceIds]}::uuid[])`
  if (isDistributed(sql)) await createAllProgress(db, filter)
  // On Citus, each workspace is checked on the server that has its progress row, so all need one.
  const workspaces = isDistributed(sql)
    ? sql`(select p.*, p.workspace_id as id from inbox_search_progress p) as w`
    : sql`(select p.*, o.id from workspaces o left join inbox_search_progress p on p.workspace_id = o.id) as w`
  const rows = await sql<{ id: string }[]>`
    select w.id
    from ${workspaces}
    left join lateral (
      select true as is_behind
      from messages m
      where m.workspace_id = w.id
        and m.id > coalesce(w.messages_to, ${lowestId}::uuid)
        and m.id < ${firstIdAt(settledTo)}::uuid
      limit 1
    ) as m on true
    left join lateral (
      select true as is_behind
      from conversations c
      where c.workspace_id = w.id
        and (c.updated_at, c.id) > (coalesce(w.conversations_to, 'epoch'), coalesce(w.conversation_to, ${lowestId}::uuid))
        and c.updated_at < ${settledTo}
      limit 1
    ) as c on true
    where (m.is_behind or c.is_behind)
      ${filter}
    limit 1000`
  return rows.map(({ id }) => id)
}

const indexNext = (deps: ChangeDeps, workspaceId: string, settledTo: Date): Promise<number> =>
  inTransaction(deps, workspaceId, async (work) => {
    const progress = await claimProgress(work.tx, workspaceId)
    if (progress === undefined) return 0
    const conversations = await indexConversations(work, progress, settledTo)
    return conversations + (await indexMessages(work, progress, settledTo))
  })

type MessageToIndex = Pick<MessageRow, 'id' | 'kind' | 'content'>

async function indexMessages(work: WorkspaceTx, { messagesTo, epoch, inEpoch }: SearchProgress, settledTo: Date) {
  const { tx, keyring, workspaceId } = work
  const rows = await tx<MessageToIndex[]>`
    select m.id, m.kind, m.content
    from messages m
    where m.workspace_id = ${workspaceId}
      and m.id > ${messagesTo}
      and m.id < ${firstIdAt(settledTo)}
    order by m.id
    limit ${batchSize}`
  const last = rows.at(-1)
  if (last === undefined) return 0
  const rowsWithTokens = rows.flatMap((row) => {
    const tokens =
      row.kind === 'system' ? [] : decryptOrNull(() => messageTokens(keyring, decryptMessageText(keyring, row), epoch))
    return tokens === null || tokens.length === 0 ? [] : { id: row.id, epoch, tokens }
  })
  await storeMessageTokens(work, rowsWithTokens)
  const isFull = inEpoch + rowsWithTokens.length >= epochSize
  await tx`
    update inbox_search_progress
    set messages_to = ${rows.length < batchSize ? firstIdAt(settledTo) : last.id},
      epoch = ${isFull ? epoch + 1 : epoch},
      in_epoch = ${isFull ? 0 : inEpoch + rowsWithTokens.length}
    where workspace_id = ${workspaceId}`
  return rows.length
}

interface ConversationToIndex {
  id: string
  contact: Buffer
  updated_at: Date
  index_version: number | null
  tokens: number[] | null
}

async function indexConversations(
  work: WorkspaceTx,
  { conversationsTo, conversationTo }: SearchProgress,
  settledTo: Date,
): Promise<number> {
  const { tx, keyring, workspaceId } = work
  const to = await newestIndexable(tx, workspaceId, settledTo)
  const rows = await tx<ConversationToIndex[]>`
    select c.*, s.index_version, s.tokens
    from (
      select id, contact, updated_at
      from conversations
      where workspace_id = ${workspaceId}
        and (updated_at, id) > (${conversationsTo}::timestamptz, ${conversationTo}::uuid)
        and updated_at < ${to}
      order by updated_at, id
      limit ${batchSize}
    ) as c
    left join lateral (
      select index_version, tokens
      from conversation_search
      where workspace_id = ${workspaceId}
        and conversation_id = c.id
      limit 1
    ) as s on true
    order by c.updated_at, c.id`
  const last = rows.at(-1)
  if (last === undefined) return 0
  const changed = rows.flatMap((row) => {
    const tokens = decryptOrNull(() => conversationTokens(keyring, decryptContact(keyring, row.id, row.contact))) ?? []
    const isUpToDate = row.index_version === keyring.indexVersion && String(tokens) === String(row.tokens)
    return isUpToDate ? [] : { id: row.id, tokens }
  })
  await storeConversationTokens(work, changed)
  const isComplete = rows.length < batchSize
  await tx`
    update inbox_search_progress
    set conversations_to = ${isComplete ? to : last.updated_at},
      conversation_to = ${isComplete ? lowestId : last.id}
    where workspace_id = ${workspaceId}`
  return rows.length
}

/** Touched conversations are reindexed later with the time of their last change, so progress must not pass it. */
async function newestIndexable(tx: Tx, workspaceId: string, settledTo: Date): Promise<Date> {
  const [row] = await tx<{ to: Date }[]>`
    select least(${settledTo}::timestamptz, min(c.now_updated_at)) as to
    from ${touchedConversations(tx, workspaceId)}
    where m.workspace_id = ${workspaceId}`
  return row?.to ?? settledTo
}
