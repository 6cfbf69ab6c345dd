import type { Clock } from '../../base/clock.ts'
import type { Db, Tx } from '../../base/db.ts'
import { isSpread } from '../../base/distribution/spread.ts'
import { firstIdAt } from '../../base/id.ts'
import { hearNews } from '../../base/news.ts'
import { openOrNull } from '../../base/sealing/seal.ts'
import type { Vault } from '../../base/sealing/vault.ts'
import { conversationsTopic, type WorkspaceTx } from '../conversation/conversation.ts'
import { type MessageRow, openText } from '../conversation/message.ts'
import { movingConversations } from '../conversation/moving.ts'
import { openContact } from '../conversation/sealed.ts'
import { conversationTokens } from './conversation-lines.ts'
import { epochSize, messageTokens } from './message-tokens.ts'
import { beginAll, putConversationTokens, putMessageTokens, type SearchProgress, takeProgress } from './progress.ts'

export interface IndexDeps {
  db: Db
  vault: Vault
  clock: Clock
}

const shiftMs = 2_000
const restMs = 10_000
const batch = 500
const allEveryMs = 300_000
/**
 * What is older has been committed, unless a transaction that began before is still open: those that write take moments, and
 * clocks of machines differ by less.
 */
export const settledMs = 60_000

/** Gathers which workspaces have something new, and makes its tokens when it has settled. */
export interface InboxIndexer {
  /** Whether it knows of something new, and does not rest. */
  isDue(): boolean
  /** Returns how much it has passed; rests between shifts, unless there was more to do than one takes. */
  work(): Promise<number>
}

export function createInboxIndexer(deps: IndexDeps): InboxIndexer {
  const news = hearNews(deps, { topics: [conversationsTopic], allEveryMs })
  const heardAtMs = new Map<string, number>()
  let restsUntilMs = Number.NEGATIVE_INFINITY
  let looksAtAll = true
  const rests = (nowMs: number): boolean => nowMs < restsUntilMs && nowMs > restsUntilMs - restMs
  return {
    isDue: () => !rests(deps.clock.now().getTime()) && (looksAtAll || heardAtMs.size > 0 || news.hasSome()),
    work: async () => {
      const nowMs = deps.clock.now().getTime()
      if (rests(nowMs)) return 0
      const heard = news.take()
      if (heard === null) looksAtAll = true
      for (const id of heard ?? []) heardAtMs.set(id.slice(0, id.indexOf(' ')), nowMs)
      const wanted = looksAtAll ? null : [...heardAtMs.keys()]
      const { passed, settledTo, isOver } = await indexBehind(deps, wanted)
      if (!isOver) {
        looksAtAll = false
        for (const [id, atMs] of heardAtMs) if (atMs < settledTo.getTime()) heardAtMs.delete(id)
        restsUntilMs = nowMs + restMs
      }
      return passed
    },
  }
}

/** Makes the tokens of all that has settled, for two seconds at most. Returns how much it has passed. */
export async function indexInbox(deps: IndexDeps): Promise<number> {
  return (await indexBehind(deps, null)).passed
}

interface Shift {
  passed: number
  settledTo: Date
  /** The time was over, rather than the work. */
  isOver: boolean
}

/** Of these workspaces, or of all: in turns. One that fails does not hold up the others, and is told of at the end. */
async function indexBehind(deps: IndexDeps, workspaceIds: readonly string[] | null): Promise<Shift> {
  if (workspaceIds?.length === 0) return { passed: 0, settledTo: new Date(0), isOver: false }
  const endsAt = performance.now() + shiftMs
  const settledTo = await readSettled(deps)
  const failures: unknown[] = []
  let passed = 0
  for (;;) {
    let ofRound = 0
    for (const workspaceId of await listBehind(deps.db, workspaceIds, settledTo)) {
      if (performance.now() > endsAt) return { passed, settledTo, isOver: true }
      const count = await indexNext(deps, workspaceId, settledTo).catch((error: unknown) => {
        failures.push(error)
        return 0
      })
      ofRound += count
      passed += count
    }
    if (failures.length > 0) throw failures[0]
    if (ofRound === 0) return { passed, settledTo, isOver: false }
  }
}

// A place is a time as soon as there is nothing before it to be done: no id of what may be erased stays there.

/** Up to when all that was begun is committed or undone: what appears later was begun later. */
async function readSettled({ db, clock }: IndexDeps): Promise<Date> {
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

async function listBehind(db: Db, workspaceIds: readonly string[] | null, settledTo: Date): Promise<string[]> {
  const { sql } = db
  const among = workspaceIds === null ? sql`` : sql`and w.id = any (${[...workspaceIds]}::uuid[])`
  if (isSpread(sql)) await beginAll(db, among)
  // Where rows are spread, each workspace is looked into on the server that has its progress; so all have some.
  const workspaces = isSpread(sql)
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
      ${among}
    limit 1000`
  return rows.map(({ id }) => id)
}

function indexNext({ db, vault }: IndexDeps, workspaceId: string, settledTo: Date): Promise<number> {
  return vault.withKeyring(workspaceId, (keyring) =>
    db.tx(async (tx) => {
      const progress = await takeProgress(tx, workspaceId)
      if (progress === undefined) return 0
      const conversations = await followConversations({ tx, keyring, workspaceId }, progress, settledTo)
      return conversations + (await followMessages({ tx, keyring, workspaceId }, progress, settledTo))
    }),
  )
}

type FollowedMessage = Pick<MessageRow, 'id' | 'kind' | 'content'>

async function followMessages(
  work: WorkspaceTx,
  { messagesTo, epoch, inEpoch }: SearchProgress,
  settledTo: Date,
): Promise<number> {
  const { tx, keyring, workspaceId } = work
  const rows = await tx<FollowedMessage[]>`
    select m.id, m.kind, m.content
    from messages m
    where m.workspace_id = ${workspaceId}
      and m.id > ${messagesTo}
      and m.id < ${firstIdAt(settledTo)}
    order by m.id
    limit ${batch}`
  const last = rows.at(-1)
  if (last === undefined) return 0
  const made = rows.flatMap((row) => {
    const tokens = row.kind === 'system' ? [] : openOrNull(() => messageTokens(keyring, openText(keyring, row), epoch))
    return tokens === null || tokens.length === 0 ? [] : { id: row.id, epoch, tokens }
  })
  await putMessageTokens(work, made)
  const isFull = inEpoch + made.length >= epochSize
  await tx`
    update inbox_search_progress
    set messages_to = ${rows.length < batch ? firstIdAt(settledTo) : last.id},
      epoch = ${isFull ? epoch + 1 : epoch},
      in_epoch = ${isFull ? 0 : inEpoch + made.length}
    where workspace_id = ${workspaceId}`
  return rows.length
}

interface FollowedConversation {
  id: string
  contact: Buffer
  updated_at: Date
  index_version: number | null
  tokens: number[] | null
}

async function followConversations(
  work: WorkspaceTx,
  { conversationsTo, conversationTo }: SearchProgress,
  settledTo: Date,
): Promise<number> {
  const { tx, keyring, workspaceId } = work
  const to = await placedTo(tx, workspaceId, settledTo)
  const rows = await tx<FollowedConversation[]>`
    select c.*, s.index_version, s.tokens
    from (
      select id, contact, updated_at
      from conversations
      where workspace_id = ${workspaceId}
        and (updated_at, id) > (${conversationsTo}::timestamptz, ${conversationTo}::uuid)
        and updated_at < ${to}
      order by updated_at, id
      limit ${batch}
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
    const tokens = openOrNull(() => conversationTokens(keyring, openContact(keyring, row.id, row.contact))) ?? []
    const isRight = row.index_version === keyring.indexVersion && String(tokens) === String(row.tokens)
    return isRight ? [] : { id: row.id, tokens }
  })
  await putConversationTokens(work, changed)
  const isAll = rows.length < batch
  await tx`
    update inbox_search_progress
    set conversations_to = ${isAll ? to : last.updated_at},
      conversation_to = ${isAll ? lowestId : last.id}
    where workspace_id = ${workspaceId}`
  return rows.length
}

/** One that moves is placed later by the time of its last change: no place may be beyond that. */
async function placedTo(tx: Tx, workspaceId: string, settledTo: Date): Promise<Date> {
  const [row] = await tx<{ to: Date }[]>`
    select least(${settledTo}::timestamptz, min(c.now_updated_at)) as to
    from ${movingConversations(tx, workspaceId)}
    where m.workspace_id = ${workspaceId}`
  return row?.to ?? settledTo
}
