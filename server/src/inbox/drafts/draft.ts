import type { Fragment, Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { ApiError, conflict, notFound } from '../../base/errors.ts'
import type { Conversation, PlainTx, WorkspaceSql } from '../conversation/conversation.ts'
import type { Source } from '../conversation/message.ts'
import { keyIdOf } from '../conversation/owner.ts'
import { opaqueWorkspaceId } from '../conversation/queries.ts'
import type { SendSyntax } from '../send/send-command.ts'
import type { ApprovalReason } from './approval-rules.ts'

export const draftStatuses = ['open', 'sent', 'edited', 'rejected', 'replaced', 'stale'] as const
export type DraftStatus = (typeof draftStatuses)[number]

/** What an agent would send. */
export interface DraftContent {
  /** Idempotency key of the answer: a repeated call proposes nothing new. */
  key: string
  body: DraftBody
  syntax: SendSyntax | null
  /** See `SendRequest`. */
  identity: object | null
  sources?: readonly Source[]
}

/** Body of a send; which other fields it has depends on the kind. */
export type DraftBody = { kind: string; [field: string]: unknown }

/** An answer that an agent proposes to people. */
export interface Draft {
  id: string
  conversationId: string
  keyId: string
  status: DraftStatus
  why: ApprovalReason
  content: DraftContent
  inboundId: string | null
  ownerEpoch: number
  createdAt: Date
  decidedAt: Date | null
  decidedBy: { type: 'user' | 'token'; id: string } | null
  /** The text that was sent. */
  sentText: string | null
  /** Why it was rejected. */
  reason: string | null
  messageId: string | null
}

export interface DraftRow {
  id: string
  conversation_id: string
  key_id: string
  status: DraftStatus
  why: ApprovalReason
  content: Buffer
  inbound_id: string | null
  owner_epoch: number
  created_at: Date
  decided_at: Date | null
  actor_type: 'user' | 'token' | null
  actor_id: string | null
  decision: Buffer | null
  message_id: string | null
}

/** `bytes`: SQL of a column of bytes, such as its text for JSON. */
export const draftColumns = (sql: Sql, bytes = (column: Fragment) => column): Fragment => sql`
  d.id, d.conversation_id, d.key_id, d.status, d.why, ${bytes(sql`d.content`)} as content, d.inbound_id, d.owner_epoch,
  d.created_at, d.decided_at, d.actor_type, d.actor_id, ${bytes(sql`d.decision`)} as decision, d.message_id`

const placeOf = (column: 'content' | 'decision', id: string) => ({ table: 'drafts', row: id, column })

export const encryptContent = (keyring: Keyring, id: string, content: DraftContent): Buffer =>
  keyring.encrypt(placeOf('content', id), JSON.stringify(content))

/** The part of a decision that is personal. */
type DecisionText = Pick<Draft, 'sentText' | 'reason'>

export const encryptDecision = (keyring: Keyring, id: string, text: DecisionText): Buffer =>
  keyring.encrypt(placeOf('decision', id), JSON.stringify(text))

export function decryptDraft(keyring: Keyring, row: DraftRow): Draft {
  const { id, actor_type: type, actor_id: actorId, decision } = row
  const text = decision === null ? null : keyring.decryptText(placeOf('decision', id), decision)
  return {
    id,
    conversationId: row.conversation_id,
    keyId: row.key_id,
    status: row.status,
    why: row.why,
    content: JSON.parse(keyring.decryptText(placeOf('content', id), row.content)) as DraftContent,
    inboundId: row.inbound_id,
    ownerEpoch: row.owner_epoch,
    createdAt: row.created_at,
    decidedAt: row.decided_at,
    decidedBy: type === null || actorId === null ? null : { type, id: actorId },
    ...(text === null ? { sentText: null, reason: null } : (JSON.parse(text) as DecisionText)),
    messageId: row.message_id,
  }
}

/** Returns the newest drafts of a conversation; `rest` is SQL after the conditions. */
export async function selectDrafts(reader: WorkspaceSql, conversationId: string, rest: Fragment): Promise<Draft[]> {
  const { sql, keyring, workspaceId } = reader
  const rows = await sql<DraftRow[]>`
    select ${draftColumns(sql)}
    from drafts d
    where d.workspace_id = ${opaqueWorkspaceId(sql, workspaceId)}
      and d.conversation_id = ${conversationId}
      ${rest}`
  return rows.map((row) => decryptDraft(keyring, row))
}

/** Returns a draft of the conversation; `lock` is SQL, such as `for update`. Throws 404. */
export async function requireDraft(
  work: WorkspaceSql,
  conversationId: string,
  id: string,
  lock: Fragment = work.sql``,
): Promise<Draft> {
  const [draft] = await selectDrafts(work, conversationId, work.sql`and d.id = ${id} ${lock}`)
  if (draft === undefined) throw notFound('Draft not found')
  return draft
}

/** Ends the open drafts that meet the condition on `d`: they were replaced, or what they answer has changed. */
export async function endOpenDrafts(
  { tx, workspaceId, now }: PlainTx,
  status: 'replaced' | 'stale',
  condition: Fragment,
): Promise<void> {
  await tx`
    update drafts d
    set status = ${status},
      decided_at = ${now}
    where d.workspace_id = ${workspaceId}
      and d.status = 'open'
      and ${condition}`
}

/** Returns the draft that people can decide on now; null if there is none. */
export async function findOpenDraft(
  work: WorkspaceSql,
  conversation: Pick<Conversation, 'id' | 'owner' | 'ownerEpoch' | 'inbound'>,
): Promise<Draft | null> {
  const [draft] = await selectDrafts(work, conversation.id, work.sql`and d.status = 'open'`)
  return draft !== undefined && isCurrent(draft, conversation) ? draft : null
}

/** SQL: whether people can decide on the draft `d` of the conversation `c`. `isCurrent` has the same rule. */
const isDecidable = (sql: Sql): Fragment => sql`
  d.status = 'open'
    and c.owner_key_id = d.key_id
    and c.owner_epoch = d.owner_epoch
    and c.newest_inbound_id is not distinct from d.inbound_id`

/** SQL: whether the conversation `c` has a draft that people can decide on. */
export const hasOpenDraft = (sql: Sql): Fragment => sql`
  exists (
    select 1 from drafts d
    where d.workspace_id = c.workspace_id
      and d.conversation_id = c.id
      and ${isDecidable(sql)}
  )`

/** Open drafts that a list shows at most. */
export const maxListed = 100

/** Returns which conversations have a draft that people can decide on, longest waiting first. */
export async function listOpenDrafts(sql: Sql, workspaceId: string) {
  const rows = await sql<{ id: string; conversationId: string; createdAt: Date }[]>`
    select d.id, d.conversation_id as "conversationId", d.created_at as "createdAt"
    from drafts d
    join conversations c on c.workspace_id = d.workspace_id and c.id = d.conversation_id
    where d.workspace_id = ${workspaceId}
      and ${isDecidable(sql)}
    order by d.created_at
    limit ${maxListed}`
  return rows.map(({ createdAt, ...row }) => ({ ...row, createdAt: createdAt.toISOString() }))
}

/** Returns whether nothing that the draft answers has changed: neither the owner nor what the customer wrote. */
export const isCurrent = (
  { keyId, ownerEpoch, inboundId }: Pick<Draft, 'keyId' | 'ownerEpoch' | 'inboundId'>,
  conversation: Pick<Conversation, 'owner' | 'ownerEpoch' | 'inbound'>,
): boolean =>
  keyIdOf(conversation.owner) === keyId &&
  conversation.ownerEpoch === ownerEpoch &&
  conversation.inbound.newest === inboundId

/** Returns the text of a send, and the same send with another text; null for one whose text cannot be changed. */
export function textOf(body: DraftBody): string | null {
  const { text } = textHolder(body) ?? {}
  return typeof text === 'string' ? text : null
}

/** Returns the send with another text. Throws 422 for a template, whose words the platform has approved. */
export function withText(body: DraftBody, text: string): DraftBody {
  const holder = textHolder(body)
  if (holder === null) {
    throw new ApiError(422, 'The text of a template cannot be changed: approve or reject the draft', {
      data: { code: 'INVALID_MESSAGE' },
    })
  }
  return holder === body ? { ...body, text } : { ...body, [body.kind]: { ...holder, text } }
}

function textHolder(body: DraftBody): Record<string, unknown> | null {
  if (body.kind === 'text' || body.kind === 'media') return body
  const inner = body[body.kind]
  return body.kind === 'template' || typeof inner !== 'object' || inner === null
    ? null
    : (inner as Record<string, unknown>)
}

/** Someone else has decided, or the agent has proposed another answer. */
export const draftDecided = (status: DraftStatus): ApiError =>
  conflict(`This draft can no longer be decided: it is ${status}. Reload the conversation.`, {
    code: 'DRAFT_DECIDED',
    status,
  })

/** What it answers has changed since. */
export const draftStale = (): ApiError =>
  conflict(
    'The customer has written again or the conversation has another owner since this was drafted. Nothing was sent.',
    { code: 'DRAFT_STALE' },
  )
