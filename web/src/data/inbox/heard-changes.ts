import type { Inbox } from './inbox.ts'
import { type ConversationList, dropRow, placeRow } from './list-rules.ts'
import { climbs, type Rung } from './status-rules.ts'
import type { Conversation, ConversationFilter } from './types.ts'

/**
 * What was heard lately. An answer that the service gave before comes after such news at times and would undo it, also
 * where nothing was known yet that the news could change: whatever is read is brought up to date by this.
 */
interface HeardChanges {
  statuses: Map<string, Rung>
  /** As each was heard of last, null when it is gone; and which hearing that was. */
  conversations: Map<string, { row: Conversation | null; moment: number }>
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

/** A message, or what a list shows of one, as far as it was heard to have got. */
export function asHeard<M extends Rung & { id: string }>(inbox: Inbox, message: M): M {
  const rung = heardIn(inbox).statuses.get(message.id)
  return rung !== undefined && climbs(message, rung) ? { ...message, ...rung } : message
}

/** A conversation as it was heard of last, unless this is newer. */
export function rowAsHeard(inbox: Inbox, row: Conversation): Conversation {
  const heard = heardIn(inbox).conversations.get(row.id)?.row ?? row
  const latest = newer(heard, row)
  const lastMessage = latest.lastMessage && asHeard(inbox, latest.lastMessage)
  return lastMessage === latest.lastMessage ? latest : { ...latest, lastMessage }
}

/** A list that was asked for at a moment, with what has been heard of conversations since. */
export function listAsHeard(
  inbox: Inbox,
  list: ConversationList,
  asked: number,
  filter: ConversationFilter,
  userId: string,
): ConversationList {
  let now: ConversationList = { ...list, rows: list.rows.map((row) => rowAsHeard(inbox, row)) }
  for (const [id, { row, moment }] of heardIn(inbox).conversations) {
    if (moment <= asked) continue
    const known = now.rows.find((one) => one.id === id)
    if (row === null) now = dropRow(now, id)
    else if (known === undefined || newer(known, row) === row) now = placeRow(now, row, filter, userId)
  }
  return now
}

/** The later of two states of one conversation, as `updatedAt` never goes back; the second when they are of one moment. */
export const newer = (known: Conversation, row: Conversation): Conversation =>
  row.updatedAt < known.updatedAt ? known : row

function heardIn({ workspaceId }: Inbox): HeardChanges {
  const known = heardByWorkspace.get(workspaceId) ?? { statuses: new Map(), conversations: new Map() }
  heardByWorkspace.set(workspaceId, known)
  return known
}

function putLast<V>(known: Map<string, V>, id: string, value: V): void {
  known.delete(id)
  known.set(id, value)
  const [oldest] = known.keys()
  if (known.size > maxKept && oldest !== undefined) known.delete(oldest)
}
