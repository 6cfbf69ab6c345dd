import type { OutboxEntry } from '../../data/inbox/outbox-rules.ts'
import type { Activity, Handover, Message, Note, TimelineItem } from '../../data/inbox/types.ts'

/** Items that the thread renders. */
export type Block =
  | { type: 'day'; key: string; at: string }
  | { type: 'time'; key: string; at: string }
  | { type: 'unread'; key: string }
  | { type: 'group'; key: string; side: 'customer' | 'ours'; author: Message['author']; messages: readonly Message[] }
  /** Notice of the platform, such as a call or a changed number. */
  | { type: 'notice'; key: string; message: Message }
  | { type: 'note'; key: string; note: Note }
  | { type: 'reaction'; key: string; emoji: string; at: string }
  | { type: 'activity'; key: string; activity: Activity }
  | { type: 'handover'; key: string; handover: Handover }
  | { type: 'waiting'; key: string; entry: OutboxEntry }

const groupMs = 3 * 60_000
const breakMs = 15 * 60_000

/**
 * Groups messages, with days, breaks and activities between them. `dayOf` returns the day in the reader's time zone.
 * Reactions appear on their messages. A change of assignee that follows from a handover is shown once.
 */
export function blocksOf(
  items: readonly TimelineItem[],
  outbox: readonly OutboxEntry[],
  unreadId: string | null,
  dayOf: (at: string) => string,
): Block[] {
  const blocks: Block[] = []
  const redundant = redundantItems(items)
  let day = ''
  let lastMessageMs = 0
  let isUnread = false
  for (const item of items) {
    isUnread ||= item.id === unreadId
    if (isShownElsewhere(item) || redundant.has(item.id)) continue
    const isNewDay = dayOf(item.at) !== day
    day = dayOf(item.at)
    const atMs = Date.parse(item.at)
    const isMessage = item.type === 'message'
    if (isNewDay) blocks.push({ type: 'day', key: `day ${day}`, at: item.at })
    else if (isMessage && atMs - lastMessageMs > breakMs) {
      blocks.push({ type: 'time', key: `time ${item.id}`, at: item.at })
    }
    if (isNewDay || isMessage) lastMessageMs = atMs
    if (isUnread) blocks.push({ type: 'unread', key: 'unread' })
    isUnread = false
    addItem(blocks, item)
  }
  return [...blocks, ...outbox.map((entry) => ({ type: 'waiting' as const, key: entry.key, entry }))]
}

// A removed reaction shows nothing.
const isShownElsewhere = ({ message }: TimelineItem): boolean =>
  message?.reaction != null && (message.reaction.messageId !== null || message.reaction.emoji === '')

/** Returns activities that a simultaneous one implies: a handover also says who answers now. */
function redundantItems(items: readonly TimelineItem[]): ReadonlySet<string> {
  const redundant = new Set<string>()
  for (let from = 0, to = 0; from < items.length; from = to) {
    const first = items[from]
    for (to = from + 1; to < items.length && isSameAction(first, items[to]); ) to++
    const group = items.slice(from, to)
    const handover = group.find((one) => one.handover !== undefined)?.handover
    const hasOwner = group.some(({ activity }) => activity?.kind === 'owner')
    for (const { id, activity } of group) {
      const isOwner = activity?.kind === 'owner' && handover !== undefined
      const isAssignee = activity?.kind === 'assignee' && (hasOwner || handover !== undefined)
      if (isOwner || (isAssignee && isImpliedBy(activity, handover))) redundant.add(id)
    }
  }
  return redundant
}

function isSameAction(one: TimelineItem | undefined, other: TimelineItem | undefined): boolean {
  const [actor, otherActor] = [one, other].map((item) => (item?.activity ?? item?.handover)?.actor)
  return one?.at === other?.at && actor?.type === otherActor?.type && actor?.id === otherActor?.id
}

/**
 * Returns whether an assignment is implied: takeovers assign to that person, handovers to their recipient or nobody.
 */
const isImpliedBy = ({ to, actor }: Activity, handover: Handover | undefined): boolean =>
  to === null || to === actor.id || to === handover?.toId

function addItem(blocks: Block[], { id, message, note, activity, handover }: TimelineItem): void {
  if (note !== undefined) blocks.push({ type: 'note', key: id, note })
  if (activity !== undefined) blocks.push({ type: 'activity', key: id, activity })
  if (handover !== undefined) blocks.push({ type: 'handover', key: id, handover })
  if (message === undefined) return
  if (message.reaction !== null) {
    blocks.push({ type: 'reaction', key: id, emoji: message.reaction.emoji, at: message.occurredAt })
    return
  }
  if (message.kind === 'system') {
    blocks.push({ type: 'notice', key: id, message })
    return
  }
  const before = blocks.at(-1)
  if (before?.type === 'group' && isSameGroup(before.messages.at(-1), message)) {
    blocks[blocks.length - 1] = { ...before, messages: [...before.messages, message] }
    return
  }
  const side = message.direction === 'inbound' ? 'customer' : 'ours'
  blocks.push({ type: 'group', key: id, side, author: message.author, messages: [message] })
}

const isSameGroup = (before: Message | undefined, next: Message): boolean =>
  before !== undefined &&
  before.direction === next.direction &&
  before.author.type === next.author.type &&
  before.author.id === next.author.id &&
  before.status !== 'failed' &&
  Date.parse(next.occurredAt) - Date.parse(before.occurredAt) < groupMs

/** Ticks are shown below the last message of a group, and wherever the status differs from the next one. */
export const showsTicks = (messages: readonly Message[], n: number): boolean =>
  messages[n]?.direction === 'outbound' && messages[n]?.status !== messages[n + 1]?.status
