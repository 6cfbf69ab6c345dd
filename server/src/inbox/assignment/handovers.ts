import type { Fragment, Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { newId } from '../../base/id.ts'
import type { Actor } from '../../workspaces/actor.ts'
import { publishConversations, type WorkspaceSql, type WorkspaceTx } from '../conversation/conversation.ts'
import { keyIdOf, type OpenHandover, type Owner, ownerOfKey, type Urgency } from '../conversation/owner.ts'

/** What is said to whoever goes on. */
export interface HandoverNote {
  summary: string
  reason: string | null
  nextStep: string | null
}

/** Whom a conversation is handed to: people, or a member of them; an agent; whichever agent takes it. */
export type HandoverTarget =
  | { type: 'people'; userId: string | null }
  | { type: 'agent'; keyId: string }
  | { type: 'agents' }

/** That somebody handed a conversation on, with what they said. */
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

/** What the conversation shows of a hand-over to people until one of them answers. */
export function toOpenHandover({ id, urgency, reason, createdAt }: Handover): OpenHandover {
  const shown =
    reason === null || reason.length <= previewLength ? reason : [...reason].slice(0, previewLength).join('')
  return { id, urgency, reason: shown, at: createdAt.toISOString() }
}

export const newHandover = (handover: NewHandover, now: Date): Handover => ({
  ...handover,
  id: newId(now),
  createdAt: now,
})

/** Under the conversation's lock, in the transaction that hands it on. */
export async function insertHandover(
  { tx, keyring, workspaceId }: WorkspaceTx,
  conversationId: string,
  { id, from, to, urgency, actor, createdAt, summary, reason, nextStep }: Handover,
): Promise<void> {
  const words: HandoverNote = { summary, reason, nextStep }
  const [keyId, userId] = [to.type === 'agent' ? to.keyId : null, to.type === 'people' ? to.userId : null]
  publishConversations(tx, workspaceId, [conversationId])
  await tx`
    insert into conversation_handovers (
      workspace_id, id, conversation_id, from_key_id, to_type, to_key_id, to_user_id, urgency, words, actor_type, actor_id,
      created_at
    )
    values (
      ${workspaceId}, ${id}, ${conversationId}, ${keyIdOf(from)}, ${to.type}, ${keyId}, ${userId}, ${urgency},
      ${keyring.encrypt(encryptionContext(id), JSON.stringify(words))}, ${actor.type}, ${actor.id}, ${createdAt}
    )`
}

/** Those of a conversation as `rest` orders and limits them, of the table `h`. */
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

/** The newest of a conversation; null when it was never handed on in words. */
export async function findNewestHandover(work: WorkspaceSql, conversationId: string): Promise<Handover | null> {
  const { sql } = work
  const newestFirst = sql`order by h.created_at desc, h.id desc limit 1`
  const [newest] = await selectHandovers(work, conversationId, newestFirst)
  return newest ?? null
}

/** Whether a key said these very words when it handed the conversation to this target. */
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

/**
 * What the key was told when it was handed the conversation, or was offered it with all others: reason, next step and
 * what has happened. Null when it was told nothing, or has handed it on since.
 */
export async function findHandoverTo(
  work: WorkspaceSql,
  conversationId: string,
  keyId: string,
): Promise<Handover | null> {
  const newest = await findNewestHandover(work, conversationId)
  if (newest === null || newest.to.type === 'people') return null
  return newest.to.type === 'agents' || newest.to.keyId === keyId ? newest : null
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
