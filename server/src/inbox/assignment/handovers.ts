import type { Fragment, Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { newId } from '../../base/id.ts'
import type { Actor } from '../../workspaces/actor.ts'
import { publishConversations, type WorkspaceSql, type WorkspaceTx } from '../conversation/conversation.ts'
import { keyIdOf, type OpenHandover, type Owner, ownerOfKey, type Urgency } from '../conversation/owner.ts'

/** Note for the next owner. */
export interface HandoverNote {
  summary: string
  reason: string | null
  nextStep: string | null
}

/** Target of a handover: people (optionally one member), one agent, or any agent. */
export type HandoverTarget =
  | { type: 'people'; userId: string | null }
  | { type: 'agent'; keyId: string }
  | { type: 'agents' }

export interface Handover extends HandoverNote {
  id: string
  from: Owner
  to: HandoverTarget
  urgency: Urgency
  actor: Actor
  createdAt: Date
}

export type NewHandover = Omit<Handover, 'id' | 'createdAt'>

export interface HandoverRow {
  id: string
  from_key_id: string | null
  to_type: HandoverTarget['type']
  to_key_id: string | null
  to_user_id: string | null
  urgency: Urgency
  words: Buffer
  actor_type: Actor['type']
  actor_id: string
  created_at: Date
}

export const handoverColumns = (sql: Sql, words = sql`h.words`) => sql`
  h.id,
  h.from_key_id,
  h.to_type,
  h.to_key_id,
  h.to_user_id,
  h.urgency,
  ${words} as words,
  h.actor_type,
  h.actor_id,
  h.created_at`

const encryptionContext = (id: string) => ({ table: 'conversation_handovers', row: id, column: 'words' })

const previewLength = 200

/** Returns the part of a handover to people that the conversation shows until one of them answers. */
export function toOpenHandover({ id, urgency, reason, createdAt }: Handover): OpenHandover {
  const reasonPreview =
    reason === null || reason.length <= previewLength ? reason : [...reason].slice(0, previewLength).join('')
  return { id, urgency, reason: reasonPreview, at: createdAt.toISOString() }
}

export const newHandover = (handover: NewHandover, now: Date): Handover => ({
  ...handover,
  id: newId(now),
  createdAt: now,
})

/** Requires the conversation's lock, in the transaction that hands the conversation over. */
export async function insertHandover(
  { tx, keyring, workspaceId }: WorkspaceTx,
  conversationId: string,
  { id, from, to, urgency, actor, createdAt, summary, reason, nextStep }: Handover,
): Promise<void> {
  const noteTexts: HandoverNote = { summary, reason, nextStep }
  const [keyId, userId] = [to.type === 'agent' ? to.keyId : null, to.type === 'people' ? to.userId : null]
  publishConversations(tx, workspaceId, [conversationId])
  await tx`
    insert into conversation_handovers (
      workspace_id, id, conversation_id, from_key_id, to_type, to_key_id, to_user_id, urgency, words, actor_type, actor_id,
      created_at
    )
    values (
      ${workspaceId}, ${id}, ${conversationId}, ${keyIdOf(from)}, ${to.type}, ${keyId}, ${userId}, ${urgency},
      ${keyring.encrypt(encryptionContext(id), JSON.stringify(noteTexts))}, ${actor.type}, ${actor.id}, ${createdAt}
    )`
}

/** Returns handovers of a conversation; `rest` orders and limits them (table alias `h`). */
export async function selectHandovers(
  { sql, keyring, workspaceId }: WorkspaceSql,
  conversationId: string,
  rest: Fragment,
): Promise<Handover[]> {
  const rows = await sql<HandoverRow[]>`
    select ${handoverColumns(sql)}
    from conversation_handovers h
    where h.workspace_id = ${workspaceId}
      and h.conversation_id = ${conversationId}
      ${rest}`
  return rows.map((row) => decryptHandover(keyring, row))
}

/** Returns the newest handover of a conversation; null if there is none. */
export async function findNewestHandover(work: WorkspaceSql, conversationId: string): Promise<Handover | null> {
  const { sql } = work
  const newestFirst = sql`order by h.created_at desc, h.id desc limit 1`
  const [newest] = await selectHandovers(work, conversationId, newestFirst)
  return newest ?? null
}

/** Returns whether the key made this handover, to the same target and with the same note. */
export function isSameHandover(
  handover: Handover,
  { keyId, to, urgency, note }: { keyId: string; to: HandoverTarget; urgency: Urgency; note: HandoverNote },
): boolean {
  const target = ({ type, ...of }: HandoverTarget) => `${type} ${Object.values(of)}`
  return (
    keyIdOf(handover.from) === keyId &&
    target(handover.to) === target(to) &&
    handover.urgency === urgency &&
    handover.summary === note.summary &&
    handover.reason === note.reason &&
    handover.nextStep === note.nextStep
  )
}

export function decryptHandover(keyring: Keyring, row: HandoverRow): Handover {
  return {
    id: row.id,
    from: ownerOfKey(row.from_key_id),
    to: targetOf(row),
    urgency: row.urgency,
    ...(JSON.parse(keyring.decryptText(encryptionContext(row.id), row.words)) as HandoverNote),
    actor: { type: row.actor_type, id: row.actor_id } as Actor,
    createdAt: row.created_at,
  }
}

function targetOf({ to_type: type, to_key_id: keyId, to_user_id: userId }: HandoverRow): HandoverTarget {
  if (type === 'people') return { type, userId }
  return type === 'agent' && keyId !== null ? { type, keyId } : { type: 'agents' }
}
