import { randomBytes } from 'node:crypto'
import type { ManualClock } from '../../../server/src/base/clock.ts'
import type { Db } from '../../../server/src/base/db.ts'
import { type KeyStore, openKeyStore } from '../../../server/src/base/encryption/key-store.ts'
import { newId } from '../../../server/src/base/id.ts'
import { createLog } from '../../../server/src/base/log.ts'
import type { ChannelEvent, Customer } from '../../../server/src/channels/channel-event.ts'
import { reindexIdle } from '../../../server/src/inbox/conversation/activity-columns.ts'
import { lockConversationsOf, storeConversations } from '../../../server/src/inbox/conversation/batch-queries.ts'
import type { Conversation, WorkspaceTx } from '../../../server/src/inbox/conversation/conversation.ts'
import { externalIndex } from '../../../server/src/inbox/conversation/encrypted-conversation.ts'
import { encryptExternalId, newMessage } from '../../../server/src/inbox/conversation/message.ts'
import { insertMessages } from '../../../server/src/inbox/conversation/message-queries.ts'
import { storeMessageStates } from '../../../server/src/inbox/receive/advance-send.ts'
import { createReceive, type ReceiveEvents } from '../../../server/src/inbox/receive/receive.ts'
import { indexInbox } from '../../../server/src/inbox/search/index-inbox.ts'
import { insertSends } from '../../../server/src/inbox/send/reserve-queries.ts'
import { newLead } from '../../../server/src/leads/lead/change.ts'
import { searchTokens } from '../../../server/src/leads/lead/search-lines.ts'
import { insertLeads, updateLeads } from '../../../server/src/leads/lead/write.ts'
import { tokenUpsertStatement } from '../../../server/src/leads/search/index-leads.ts'
import type { Filling } from '../../fill.ts'
import { fillingOf, seedConnection } from '../../inbox-seed.ts'
import { person } from '../../people.ts'
import { benchMasterKey, makeWorkspace } from '../../workspace.ts'
import { chatText } from '../message-search/chat-words.ts'

/** Conversations in which people write during the same minutes, and those of the same second. */
const [atOnce, perSecond] = [400, 20]
const chats = 3
const exchanges = 3

/** A customer who writes on a connection. */
interface Writer {
  filling: Filling
  connectionId: string
  keyId: string
  n: number
}

interface History {
  db: Db
  clock: ManualClock
  receive: ReceiveEvents
}

/**
 * Writes leads and conversations as they are after months: each other lead was changed twice, and each customer had
 * three chats of three questions and answers, each answer delivered and read. Customers write in any order. Uses the
 * product's statements on a simulated clock.
 */
export async function writeHistory(
  db: Db,
  clock: ManualClock,
  { workspaces, rows }: { workspaces: number; rows: number },
): Promise<void> {
  const writers = await makeWriters(db, workspaces, rows)
  const keyStore = openKeyStore(db, { current: benchMasterKey }, clock)
  const done = async () => {}
  const handlers = { onConnectionEvent: done, onSendRefused: done, onCustomersWrote: done }
  const history = { db, clock, receive: createReceive({ db, keyStore, clock, log: createLog('error'), ...handlers }) }
  for (let chat = 0; chat < chats; chat++) {
    const shuffled = writers.toSorted((a, b) => hashOf(a.n, chat) - hashOf(b.n, chat))
    for (let at = 0; at < rows; at += atOnce) {
      const some = shuffled.slice(at, at + atOnce)
      for (let exchange = 0; exchange < exchanges; exchange++) await exchangeMessages(history, some, chat, exchange)
      for (const writer of some) await writeLead(db, clock, writer, chat)
      await finishChats(db, clock, keyStore)
    }
  }
}

const hashOf = (n: number, round: number): number => Math.imul(n * 2654435761 + round * 40503, 2246822519) >>> 0

async function makeWriters(db: Db, workspaces: number, rows: number): Promise<Writer[]> {
  const made: Omit<Writer, 'n'>[] = []
  for (let n = 0; n < workspaces; n++) {
    const workspace = await makeWorkspace(db)
    const filling = await fillingOf(db, workspace)
    for (let connection = 0; connection < 2; connection++) {
      const { id: connectionId } = await seedConnection(filling, workspace, 1, 0)
      made.push({ filling, connectionId, keyId: workspace.keyId })
    }
  }
  return Array.from({ length: rows }, (_, n) => ({ ...(made[n % made.length] as Writer), n }))
}

/** Lets an hour pass: conversations become idle, tokens are created, and tables are vacuumed. */
async function finishChats(db: Db, clock: ManualClock, keyStore: KeyStore): Promise<void> {
  clock.advance(3_600_000)
  await reindexIdle({ db, clock })
  while ((await indexInbox({ db, keyStore, clock })) > 0);
  await vacuumDue(db)
}

async function exchangeMessages(history: History, writers: readonly Writer[], chat: number, exchange: number) {
  const round = chat * exchanges + exchange
  const byWorkspace = [...Map.groupBy(writers, ({ filling }) => filling).values()]
  for (const some of byWorkspace) {
    for (let at = 0; at < some.length; at += perSecond) {
      history.clock.advance(1_000)
      const now = some.slice(at, at + perSecond)
      const receivedAt = history.clock.now()
      const incoming = now.map((writer) => [writer.connectionId, messageOf(writer.n, round, receivedAt)] as const)
      await receiveAll(history, now, incoming)
      history.clock.advance(1_000)
      const sent = await sendAnswers(history, now, round)
      for (const status of ['delivered', 'read'] as const) {
        history.clock.advance(1_000)
        const fields = { status, at: history.clock.now(), errorCode: null, correlator: null, customer: null }
        const reports = sent.map(([id, externalId]) => [id, { type: 'status', externalId, ...fields }] as const)
        await receiveAll(history, now, reports)
      }
    }
  }
}

async function receiveAll(
  { receive }: History,
  [first]: readonly Writer[],
  events: readonly (readonly [connectionId: string, event: ChannelEvent])[],
): Promise<void> {
  const workspaceId = first?.filling.workspaceId ?? ''
  for (const [id, some] of Map.groupBy(events, ([id]) => id)) {
    await receive(
      { workspaceId, id, channel: 'waba' },
      some.map(([, event]) => event),
    )
  }
}

/** Stores an answer of the agent in each conversation, as after the platform's response; returns the platform's ids. */
async function sendAnswers({ db, clock }: History, writers: readonly Writer[], round: number) {
  const [first] = writers
  if (first === undefined) return []
  const { keyring, workspaceId } = first.filling
  return db.tx(async (tx) => {
    const work: WorkspaceTx = { tx, keyring, workspaceId }
    const now = clock.now()
    const customers = writers.map(({ connectionId, n }) => ({ connectionId, customer: customerOf(n) }))
    const locked = await lockConversationsOf(work, customers)
    const messages = locked.map((one, n) => answerTo(one, first.keyId, chatText(n * 7 + round, 1_000_000), now))
    await insertMessages(work, messages)
    const sends = messages.map(({ id, conversationId, connectionId }) => {
      const of = { senderId: first.keyId, key: id, conversationId, connectionId, messageId: id }
      return { ...of, fingerprint: randomBytes(32), parts: 1 }
    })
    await insertSends(tx, workspaceId, sends, now)
    const settled = messages.map((message) => {
      const { id, connectionId } = message
      const externalId = platformId()
      const index = externalIndex(keyring, connectionId, externalId)
      const sent = { ...message, status: 'sent' as const, settleBy: null, externalId }
      return { message: sent, newId: { sealed: encryptExternalId(keyring, id, externalId), index } }
    })
    await storeMessageStates(tx, workspaceId, settled)
    await storeConversations(
      work,
      locked.map((before, n) => ({ before, after: { ...before, ...answered(messages[n]?.text ?? '', now) } })),
    )
    return settled.map(({ message }) => [message.connectionId, message.externalId] as const)
  })
}

const answerTo = ({ id: conversationId, connectionId }: Conversation, keyId: string, text: string, now: Date) =>
  newMessage({
    ...{ id: newId(now), conversationId, connectionId, direction: 'outbound', kind: 'text', origin: 'live', text },
    ...{ status: 'pending', actor: { type: 'agent', id: keyId }, occurredAt: now, createdAt: now, settleBy: now },
  })

const answered = (text: string, now: Date): Partial<Conversation> => ({
  ...{ unreadCount: 0, unansweredSince: null, lastMessageAt: now, updatedAt: now },
  lastMessage: { direction: 'outbound', kind: 'text', text: text.slice(0, 100) },
})

const platformId = () => `wamid.${randomBytes(36).toString('base64')}`

function customerOf(n: number): Customer & { name: string } {
  const { firstName, lastName, phone } = person(n)
  return { userId: null, parentUserId: null, phone, name: `${firstName} ${lastName}` }
}

const messageOf = (n: number, round: number, at: Date): ChannelEvent => ({
  ...{ type: 'message', referral: null, opensWindow: true, externalId: platformId(), kind: 'text' },
  ...{ customer: customerOf(n), text: chatText(n * 11 + round, 1_000_000), at },
})

/** Creates the customer's lead in the first chat, and changes that of each other customer in the others. */
async function writeLead(db: Db, clock: ManualClock, { filling, n }: Writer, chat: number): Promise<void> {
  const { keyring, workspaceId } = filling
  clock.advance(1_000)
  const now = clock.now()
  const fields = person(n)
  const { lead } = newLead({ fields, phoneAsSent: null, typed: [], values: {} }, newId(now), '', now)
  await db.tx(async (tx) => {
    if (chat === 0) {
      await insertLeads(tx, keyring, workspaceId, [lead])
      await tokenUpsertStatement(tx, keyring, workspaceId, [{ id: lead.id, tokens: searchTokens(keyring, lead) }])
    } else if (n % 4 > 1) {
      const [row] = await tx<{ id: string; uniqueCode: string; createdAt: Date }[]>`
        select id, unique_code as "uniqueCode", created_at as "createdAt"
        from leads
        where workspace_id = ${workspaceId}
          and external_ref = ${fields.externalRef}
          and deleted_at is null`
      await updateLeads(tx, keyring, workspaceId, [{ ...lead, ...row, status: chat === 1 ? 'contacted' : 'won' }])
    }
  })
}

/** Vacuums the tables for which autovacuum would be due. */
async function vacuumDue(db: Db): Promise<void> {
  const due = await db.sql<{ name: string }[]>`
    select s.relname as name
    from pg_stat_user_tables s
    join pg_class c on c.oid = s.relid
    cross join lateral (
      select coalesce(max(option_value::float8) filter (where option_name = 'autovacuum_vacuum_scale_factor'), 0.2) as dead,
        coalesce(
          max(option_value::float8) filter (where option_name = 'autovacuum_vacuum_insert_scale_factor'), 0.2
        ) as inserted,
        coalesce(max(option_value::float8) filter (where option_name = 'autovacuum_vacuum_threshold'), 50) as least
      from pg_options_to_table(c.reloptions)
    ) as o
    where s.n_dead_tup > o.least + o.dead * s.n_live_tup
      or s.n_ins_since_vacuum > 1000 + o.inserted * s.n_live_tup`
  for (const { name } of due) await db.sql.unsafe(`vacuum analyze ${name}`)
}
