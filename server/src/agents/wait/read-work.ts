import { rejectKey } from '../../access/keys/reject-key.ts'
import type { Db } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { Conversation } from '../../inbox/conversation/conversation.ts'
import { type Note, openNote } from '../../inbox/notes/notes.ts'
import { type Handover, openHandover } from '../../inbox/ownership/handovers.ts'
import { openTeamListed } from '../../inbox/read/listed-conversation.ts'
import { openShownMessage, type ShownMessage } from '../../inbox/read/read-messages.ts'
import type { WorkAsk } from './due-work.ts'
import {
  type HandoverJson,
  type MessageJson,
  type NoteJson,
  type PartRow,
  type PickedRow,
  partsOf,
  type StateRow,
  selectWork,
  shownMessages,
  type Why,
} from './select-work.ts'
import type { WorkCursor } from './work-cursor.ts'

/** A conversation of the key with what it takes to answer it. */
export interface Work {
  why: Why
  conversation: Conversation
  /** The newest, oldest first. */
  messages: ShownMessage[]
  hasOlderMessages: boolean
  /** The newest, oldest first. */
  notes: Note[]
  /** What the key was told when it was given the conversation. */
  handover: Handover | null
}

/** What the moment says of who asks. */
export interface Standing {
  /** False once the key was revoked, has expired or reads no more. */
  isActive: boolean
  /** False while the workspace has no inbox. */
  hasInbox: boolean
  isStopped: boolean
  isMasked: boolean
  /** Changes with the value of the key. */
  keyHash: string
}

export interface WorkPage {
  standing: Standing
  work: Work[]
  /** Where to go on. */
  cursor: WorkCursor
  /** There is more at once. */
  hasMore: boolean
  /** Committed events wait for their place: some of them may be the key's. Only where it was asked for. */
  isUnplaced: boolean
  /** The feed does not reach the place any more that was asked for: this is what waits now. */
  isNew: boolean
}

/** The next work of a key, by one statement. */
export async function readWork(
  { sql }: Pick<Db, 'sql'>,
  keyring: Keyring,
  ask: WorkAsk,
  looksForUnplaced: boolean,
): Promise<WorkPage> {
  const rows = await selectWork(sql, ask, looksForUnplaced)
  const state = rows.find((row) => row.part === 'state')?.row as StateRow | undefined
  if (state === undefined) throw rejectKey('unknown')
  const { from } = ask
  if (from !== null && (from.position < state.removed_to || from.position > state.last)) {
    const page = await readWork({ sql }, keyring, { ...ask, from: null }, looksForUnplaced)
    return { ...page, isNew: true }
  }
  const picked = partsOf<PickedRow>(rows, 'picked').map(({ row }) => row)
  picked.sort((a, b) => a.nth - b.nth)
  const told = picked.slice(0, ask.limit)
  const hasMore = picked.length > ask.limit
  return {
    standing: {
      isActive: state.is_active,
      hasInbox: state.has_inbox,
      isStopped: state.agents_stopped,
      isMasked: state.phone_visibility === 'masked',
      keyHash: state.key_hash,
    },
    work: told.map((row) => openWork(keyring, rows, row)),
    ...placeAfter(from, state, told.at(-1), hasMore),
    isUnplaced: state.unplaced === true,
    isNew: false,
  }
}

/** Where to go on, and whether there is something at once. */
function placeAfter(
  from: WorkCursor | null,
  { last, reach }: StateRow,
  newest: PickedRow | undefined,
  hasMore: boolean,
): { cursor: WorkCursor; hasMore: boolean } {
  if (from !== null && from.waiting === null) {
    const position = hasMore && newest !== undefined && newest.place !== null ? newest.place : reach
    return { cursor: { position, waiting: null }, hasMore: hasMore || reach < last }
  }
  // Whoever is left of those that waited comes first, and then what came after the first question.
  const position = from?.position ?? last
  const waiting = hasMore && newest?.since != null ? { since: new Date(newest.since), id: newest.id } : null
  return { cursor: { position, waiting }, hasMore: hasMore || position < last }
}

function openWork(keyring: Keyring, rows: readonly PartRow[], { id, why, conversation }: PickedRow): Work {
  const messages = partsOf<MessageJson>(rows, 'message', id).map(({ row }) =>
    openShownMessage(keyring, { ...row, conversation_id: id, occurred_at: new Date(row.occurred_at) }),
  )
  messages.sort((a, b) => a.occurredAt.getTime() - b.occurredAt.getTime())
  const notes = partsOf<NoteJson>(rows, 'note', id).map(({ row }) =>
    openNote(keyring, { ...row, text: bytesOf(row.text), mentions: [], created_at: new Date(row.created_at) }),
  )
  notes.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1))
  const [handover] = partsOf<HandoverJson>(rows, 'handover', id)
  return {
    why,
    conversation: openConversationJson(keyring, conversation),
    messages: messages.slice(-shownMessages),
    hasOlderMessages: messages.length > shownMessages,
    notes,
    handover: handover === undefined ? null : openHandoverJson(keyring, handover.row),
  }
}

const openConversationJson = (keyring: Keyring, row: PickedRow['conversation']): Conversation =>
  openTeamListed(keyring, {
    ...row,
    snoozed_until: timeOf(row.snoozed_until),
    window_expires_at: timeOf(row.window_expires_at),
    last_message_at: new Date(row.last_message_at),
    updated_at: new Date(row.updated_at),
    owner_since: new Date(row.owner_since),
    unanswered_since: timeOf(row.unanswered_since),
    created_at: new Date(row.created_at),
  })

const openHandoverJson = (keyring: Keyring, { words, created_at, ...row }: HandoverJson): Handover =>
  openHandover(keyring, { ...row, words: bytesOf(words), created_at: new Date(created_at) })

const timeOf = (text: string | null): Date | null => (text === null ? null : new Date(text))
const bytesOf = (text: string): Buffer => Buffer.from(text, 'base64')
