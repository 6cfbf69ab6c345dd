import type { Inbox } from './inbox.ts'
import { type ConversationList, dropRow, placeRow } from './list-rules.ts'
import { climbs, type Rung } from './status-rules.ts'
import type { Conversation, ConversationFilter } from './types.ts'

/**
 * What was heard lately, and what was done here and is not answered yet. An answer that the service gave before comes
 * after such a change at times and would undo it, also where nothing was known yet that it could change: whatever is
 * read is brought up to date by this.
 */
interface HeardChanges {
  statuses: Map<string, Rung>
  /** As each was heard of last, null when it is gone; and which hearing that was. */
  conversations: Map<string, { row: Conversation | null; moment: number }>
  /** What each shows before the service has answered, in the order in which it was done. */
  pending: Map<string, readonly Partial<Conversation>[]>
}

// More than come while one answer is on its way.
const maxKept = 500
// By workspace. Nothing is drawn from it, and each message of a thread asks: not a part of the cache of queries.
const heardByWorkspace = new Map<string, HeardChanges>()

let moment = 0

/** Counts on with each hearing. What is read from here on knows all that was heard before. */
export const thisMoment = (): number => moment

export function hearStatus(inbox: Inbox, messageId: string, rung: Rung): void {
  const { statuses } = heardIn(inbox)
  const before = statuses.get(messageId)
  if (before === undefined || climbs(before, rung)) putLast(statuses, messageId, rung)
}

export function hearConversation(inbox: Inbox, id: string, row: Conversation | null): void {
  moment += 1
  putLast(heardIn(inbox).conversations, id, { row, moment })
}

/** The conversation as it was heard of last; null when it is gone, undefined when nothing was heard of it. */
export const heardConversation = (inbox: Inbox, id: string): Conversation | null | undefined =>
  heardIn(inbox).conversations.get(id)?.row

/** Lays what was done here over whatever is heard or read, until the returned function is called. */
export function addPending(inbox: Inbox, id: string, changes: Partial<Conversation>): () => void {
  const { pending } = heardIn(inbox)
  pending.set(id, [...(pending.get(id) ?? []), changes])
  return () => {
    const others = (pending.get(id) ?? []).filter((one) => one !== changes)
    if (others.length === 0) pending.delete(id)
    else pending.set(id, others)
  }
}

export const isPending = (inbox: Inbox, id: string): boolean => heardIn(inbox).pending.has(id)

/** A message, or what a list shows of one, as far as it was heard to have got. */
export function asHeard<M extends Rung & { id: string }>(inbox: Inbox, message: M): M {
  const rung = heardIn(inbox).statuses.get(message.id)
  return rung !== undefined && climbs(message, rung) ? { ...message, ...rung } : message
}

/** A conversation that was asked for at a moment, as it is to be shown. */
export function rowToShow(inbox: Inbox, row: Conversation, asked: number): Conversation {
  const latest = latestOf(inbox, row, asked)
  const lastMessage = latest.lastMessage && asHeard(inbox, latest.lastMessage)
  const changes = heardIn(inbox).pending.get(row.id)
  if (changes === undefined && lastMessage === latest.lastMessage) return latest
  return Object.assign({}, latest, { lastMessage }, ...(changes ?? []))
}

/**
 * A conversation as it was heard of last, unless this is newer. `updatedAt` never goes back; of two states of one time
 * the one that was asked for before the other was heard is the older.
 */
export function latestOf(inbox: Inbox, row: Conversation, asked: number): Conversation {
  const heard = heardIn(inbox).conversations.get(row.id)
  if (heard === undefined || heard.row === null || heard.row.updatedAt < row.updatedAt) return row
  return heard.row.updatedAt === row.updatedAt && heard.moment <= asked ? row : heard.row
}

/** A list that was asked for at a moment, with what has been heard of conversations since and what was done here. */
export function listAsHeard(
  inbox: Inbox,
  list: ConversationList,
  asked: number,
  filter: ConversationFilter,
  userId: string,
): ConversationList {
  let now: ConversationList = { ...list, rows: list.rows.map((row) => rowToShow(inbox, row, asked)) }
  for (const [id, { row, moment }] of heardIn(inbox).conversations) {
    if (moment <= asked && !isPending(inbox, id)) continue
    const known = now.rows.find((one) => one.id === id)
    if (row === null) now = dropRow(now, id)
    else now = placeRow(now, known ?? rowToShow(inbox, row, moment), filter, userId)
  }
  return now
}

function heardIn({ workspaceId }: Inbox): HeardChanges {
  const known = heardByWorkspace.get(workspaceId) ?? {
    statuses: new Map(),
    conversations: new Map(),
    pending: new Map(),
  }
  heardByWorkspace.set(workspaceId, known)
  return known
}

function putLast<V>(known: Map<string, V>, id: string, value: V): void {
  known.delete(id)
  known.set(id, value)
  const [oldest] = known.keys()
  if (known.size > maxKept && oldest !== undefined) known.delete(oldest)
}
