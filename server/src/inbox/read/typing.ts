import { createHash } from 'node:crypto'
import { idempotent } from '../../base/db.ts'
import type { Connection } from '../../channels/connection/connection.ts'
import type { Connector } from '../../channels/connector.ts'
import { holdsOf } from '../../channels/health/availability.ts'
import { needsAcknowledgement } from '../../channels/health/health.ts'
import { findHold } from '../../channels/health/holds.ts'
import type { Conversation, InboxDeps, PlainTx, Scope } from '../conversation/conversation.ts'
import { windowIsOpen, windowOf } from '../conversation/conversation-state.ts'
import { decryptConversation } from '../conversation/encrypted-conversation.ts'
import { decryptMessageId } from '../conversation/message.ts'
import { findInbound, findNewestInbound } from '../conversation/message-queries.ts'
import { requireConversation } from '../conversation/queries.ts'
import { standbyOwner } from '../conversation/thread-control.ts'

/** How long the platform shows that an answer is being written, unless it arrives earlier. */
export const typingMs = 25_000

/** Calls in progress for each workspace; more are dropped, since a late one is worth nothing. */
const maxCalls = 32

/** Who writes: the agent with this key, or people. */
export type Writer = { keyId: string } | 'people'

/**
 * `recent`: it is shown already. `not_owner`: the writer lost the conversation, or its connection stopped, during the
 * call. `unavailable`: no answer can be sent now, or too many calls are in progress.
 */
export type TypingResult = 'shown' | 'recent' | 'not_owner' | 'unavailable'

/** Shows customers that an answer is being written. */
export interface Typing {
  /**
   * Marks the customer's messages as read on the platform, up to `messageId` or all, and shows that an answer is being
   * written: at most once per 25 s and conversation for all writers, and only while the writer owns the conversation.
   * Does not await the platform's answer, and ignores it. Throws 404 outside the scope.
   */
  show(writer: Writer, scope: Scope, conversationId: string, messageId?: string | null): Promise<TypingResult>
  /** Ends what people have been shown to write, on channels that can. Throws 404 outside the scope. */
  stop(scope: Scope, conversationId: string): Promise<void>
}

export function createTyping(deps: InboxDeps): Typing {
  const calls = new Map<string, number>()
  const release = (workspaceId: string) => {
    const left = (calls.get(workspaceId) ?? 0) - 1
    if (left > 0) calls.set(workspaceId, left)
    else calls.delete(workspaceId)
  }
  /** Runs `prepare`, then the call that it returns without awaiting it. */
  const limited = async (workspaceId: string, prepare: () => Promise<TypingResult | PlatformCall>) => {
    const count = calls.get(workspaceId) ?? 0
    if (count >= maxCalls) return 'unavailable'
    calls.set(workspaceId, count + 1)
    let call: PlatformCall = async () => {}
    try {
      const prepared = await prepare()
      if (typeof prepared === 'string') return prepared
      call = prepared
      return 'shown'
    } finally {
      // The platform's failures mean nothing to the writer.
      void call()
        .catch(() => {})
        .finally(() => release(workspaceId))
    }
  }
  return {
    show: (writer, scope, id, messageId = null) =>
      limited(scope.workspaceId, () => prepareTyping(deps, writer, scope, id, messageId)),
    stop: async (scope, id) => {
      await limited(scope.workspaceId, () => prepareStop(deps, scope, id))
    },
  }
}

type PlatformCall = () => Promise<void>

/** What the platform is called with. */
interface Target {
  conversation: Conversation
  connection: Connection
  connector: Connector
  externalId: string
}

async function prepareTyping(
  deps: InboxDeps,
  writer: Writer,
  scope: Scope,
  id: string,
  messageId: string | null,
): Promise<TypingResult | PlatformCall> {
  const target = await findTarget(deps, scope, id, messageId)
  if (target === null) return 'unavailable'
  const { conversation, connection, connector, externalId } = target
  // Last, so that nothing is shown for a key that no longer owns the conversation.
  // If the answer of the database is lost, it runs again and finds the time claimed: then nothing is shown.
  const at = { workspaceId: scope.workspaceId, now: deps.clock.now() }
  const claim = await deps.db.statement((tx) => claimTyping({ tx, ...at }, conversation.id, writer), null, idempotent)
  if (claim !== 'shown') return claim
  return () => connector.markRead(connection, externalId, conversation.contact.address, true)
}

async function prepareStop(deps: InboxDeps, scope: Scope, id: string): Promise<TypingResult | PlatformCall> {
  const target = await findTarget(deps, scope, id, null)
  if (target === null) return 'unavailable'
  const { conversation, connection, connector, externalId } = target
  if (conversation.owner.type === 'agent') return 'not_owner'
  const at = { workspaceId: scope.workspaceId, now: deps.clock.now() }
  const isClaimed = await deps.db.statement((tx) => claimStop({ tx, ...at }, conversation.id), null, idempotent)
  if (!isClaimed) return 'recent'
  return async () => connector.stopTyping?.(connection, externalId, conversation.contact.address)
}

/** Returns null unless a free-form message could be sent now. */
async function findTarget(
  { db, keyStore, clock, connectors, openConnection }: InboxDeps,
  scope: Scope,
  id: string,
  messageId: string | null,
): Promise<Target | null> {
  const { workspaceId } = scope
  const row = await requireConversation(db.sql, scope, id)
  const [message, connection, keyring] = await Promise.all([
    messageId === null ? findNewestInbound(db.sql, workspaceId, row.id) : findInbound(db.sql, workspaceId, messageId),
    openConnection(workspaceId, row.connection_id),
    keyStore.keyring(workspaceId),
  ])
  const conversation = decryptConversation(keyring, row)
  const externalId = message === undefined ? null : decryptMessageId(keyring, message)
  if (connection === null || externalId === null) return null
  if (!mayAnswer(conversation, connection, clock.now())) return null
  return { conversation, connection, connector: connectors[conversation.channel], externalId }
}

function mayAnswer(conversation: Conversation, connection: Connection, now: Date): boolean {
  const { channel } = conversation
  if (standbyOwner(conversation, now) !== null) return false
  if (connection.state !== 'active' || needsAcknowledgement({ ...connection, channel }, now)) return false
  return (
    windowIsOpen(windowOf(conversation), now) &&
    findHold(holdsOf(connection), { category: null, isWindowOpen: true, isFree: true }, now) === null
  )
}

/**
 * Claims the next 25 s of a conversation for its owner. The rows are those of the rate limiter, whose scheduled job
 * deletes them.
 */
async function claimTyping({ tx, workspaceId, now }: PlainTx, conversationId: string, writer: Writer) {
  const owner = writer === 'people' ? tx`c.owner_key_id is null` : tx`c.owner_key_id = ${writer.keyId}`
  const [row] = await tx<{ is_owned: boolean; is_claimed: boolean }[]>`
    with owned as (
      select c.workspace_id, c.id
      from conversations c
      join connections n
        on n.workspace_id = c.workspace_id
        and n.id = c.connection_id
      where c.workspace_id = ${workspaceId}
        and c.id = ${conversationId}
        and ${owner}
        and n.state = 'active'
        and n.removed_at is null
    ),
    claimed as (
      insert into send_paces as p (workspace_id, id, next_at)
      select workspace_id, ${paceId('typing', conversationId)}::uuid, ${until(now)}::timestamptz
      from owned
      on conflict (workspace_id, id) do update
      set next_at = excluded.next_at
      where p.next_at <= ${now}::timestamptz
      returning p.id
    )
    select exists (select 1 from owned) as is_owned, exists (select 1 from claimed) as is_claimed`
  if (row?.is_owned !== true) return 'not_owner'
  return row.is_claimed ? 'shown' : 'recent'
}

/** Returns whether typing is shown and has not been ended since it was claimed. */
async function claimStop({ tx, workspaceId, now }: PlainTx, conversationId: string): Promise<boolean> {
  const rows = await tx`
    insert into send_paces as p (workspace_id, id, next_at)
    select t.workspace_id, ${paceId('stopped', conversationId)}::uuid, t.next_at
    from send_paces t
    where t.workspace_id = ${workspaceId}
      and t.id = ${paceId('typing', conversationId)}
      and t.next_at > ${now}::timestamptz
    on conflict (workspace_id, id) do update
    set next_at = excluded.next_at
    where p.next_at < excluded.next_at
    returning p.id`
  return rows.length > 0
}

const until = (now: Date): Date => new Date(now.getTime() + typingMs)

/** Returns an id besides that of the conversation, which is the pace of its messages. */
function paceId(what: 'typing' | 'stopped', conversationId: string): string {
  const hex = createHash('sha256').update(`${what} ${conversationId}`).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}
