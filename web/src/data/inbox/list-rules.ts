import { replaceEqualDeep } from '@tanstack/react-query'
import { type Conversation, type ConversationFilter, priorities } from './types.ts'

/** Rows in order, with the cursor of the next page; null at the end. */
export interface ConversationList {
  rows: readonly Conversation[]
  cursor: string | null
}

export const emptyList: ConversationList = { rows: [], cursor: null }

/** Returns whether a conversation belongs to a list. Null for `search`, which only the server can decide. */
export function matches(filter: ConversationFilter, row: Conversation, userId: string): boolean | null {
  const { view, status, owner, assignedTo, connectionId, teamId, labelId, unread, unanswered, priority, sort } = filter
  const isAgents = row.owner !== 'human'
  if (view === 'mine' && row.assignedTo !== userId) return false
  if (view === 'unassigned' && (isAgents || row.assignedTo !== null)) return false
  if (view === 'agents' && !isAgents) return false
  if (status !== 'any' && row.status !== status) return false
  if (owner === 'human' && isAgents) return false
  if (owner === 'agent' && !isAgents) return false
  if (owner?.startsWith('agent:') && row.owner !== owner) return false
  if (assignedTo === 'none' && row.assignedTo !== null) return false
  if (assignedTo === 'me' && row.assignedTo !== userId) return false
  if (assignedTo !== undefined && !['me', 'none'].includes(assignedTo) && row.assignedTo !== assignedTo) return false
  if (connectionId !== undefined && row.connectionId !== connectionId) return false
  if (teamId !== undefined && (row.teamId ?? 'none') !== teamId) return false
  if (labelId !== undefined && !row.labelIds.includes(labelId)) return false
  if (unread && row.unreadCount === 0) return false
  if ((unanswered || sort === 'waiting') && row.unansweredSince === null) return false
  if (priority !== undefined && row.priority !== priority) return false
  if (sort === 'priority' && row.priority === null) return false
  if (filter.overdue && !row.goal?.isMissed) return false
  if (sort === 'due' && (row.goal === null || row.goal.isMissed)) return false
  return filter.search === undefined ? true : null
}

/**
 * Returns the list with the current version of a conversation: moved, changed, added or removed; the same list if
 * nothing differs. A conversation that sorts after the loaded rows is left for its page.
 */
export function upsertRow(
  list: ConversationList,
  row: Conversation,
  filter: ConversationFilter,
  userId: string,
): ConversationList {
  const at = list.rows.findIndex(({ id }) => id === row.id)
  const belongs = matches(filter, row, userId) ?? at !== -1
  if (!belongs) return at === -1 ? list : { ...list, rows: list.rows.toSpliced(at, 1) }
  const before = list.rows[at]
  if (before !== undefined && compare(filter.sort, before, row) === 0) {
    return { ...list, rows: list.rows.with(at, row) }
  }
  const others = at === -1 ? list.rows : list.rows.toSpliced(at, 1)
  const place = positionOf(others, row, filter.sort)
  if (place === others.length && list.cursor !== null) return at === -1 ? list : { ...list, rows: others }
  return { ...list, rows: others.toSpliced(place, 0, row) }
}

export function removeRow(list: ConversationList, id: string): ConversationList {
  const at = list.rows.findIndex((row) => row.id === id)
  return at === -1 ? list : { ...list, rows: list.rows.toSpliced(at, 1) }
}

/**
 * Returns the new list, reusing row objects that did not change. Compares only new objects: in busy moments one row
 * among thousands changes many times a second.
 */
export function reuseRows(before: ConversationList | undefined, list: ConversationList): ConversationList {
  if (before === undefined || before === list) return list
  const known = new Map(before.rows.map((row) => [row.id, row]))
  const rows = list.rows.map((row) => {
    const one = known.get(row.id)
    return one === undefined || one === row ? row : replaceEqualDeep(one, row)
  })
  const isSame = rows.length === before.rows.length && rows.every((row, n) => row === before.rows[n])
  return isSame && list.cursor === before.cursor ? before : { ...list, rows }
}

/** Appends the next page. Rows that have moved up meanwhile keep their place. */
export function appendPage(list: ConversationList, page: ConversationList): ConversationList {
  const known = new Set(list.rows.map(({ id }) => id))
  return { rows: [...list.rows, ...page.rows.filter(({ id }) => !known.has(id))], cursor: page.cursor }
}

function positionOf(rows: readonly Conversation[], row: Conversation, sort: ConversationFilter['sort']): number {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const other = rows[middle]
    if (other !== undefined && compare(sort, other, row) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Compares in the order of the server: by time, then by id. */
function compare(sort: ConversationFilter['sort'], a: Conversation, b: Conversation): number {
  if (sort === 'waiting') {
    return order(a.unansweredSince ?? '', b.unansweredSince ?? '') || order(a.id, b.id)
  }
  if (sort === 'due') return order(a.goal?.dueAt ?? '', b.goal?.dueAt ?? '') || order(a.id, b.id)
  if (sort === 'priority') return rankOf(b) - rankOf(a) || order(b.id, a.id)
  return order(b.lastMessageAt, a.lastMessageAt) || order(b.id, a.id)
}

const rankOf = ({ priority }: Conversation): number => (priority === null ? -1 : priorities.indexOf(priority))

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
