import type { Conversation } from '../../data/inbox/types.ts'

/** Returns the selection with a range of rows added; only one row if there is no start. */
export function extendSelection(
  chosen: readonly string[],
  anchor: string | null,
  id: string,
  rows: readonly { id: string }[],
): string[] {
  const [from, to] = [rows.findIndex((row) => row.id === anchor), rows.findIndex((row) => row.id === id)]
  const range = from === -1 || to === -1 ? [{ id }] : rows.slice(Math.min(from, to), Math.max(from, to) + 1)
  return [...new Set([...chosen, ...range.map((row) => row.id)])]
}

/** Returns the next conversation, or the previous for the last; null without others, undefined if not in the list. */
export function adjacentId(rows: readonly { id: string }[], id: string): string | null | undefined {
  const at = rows.findIndex((row) => row.id === id)
  if (at === -1) return undefined
  return (rows[at + 1] ?? rows[at - 1])?.id ?? null
}

/** Returns whether a label is set on all, some or none of the conversations. */
export function labelState(
  conversations: readonly Pick<Conversation, 'labelIds'>[],
  labelId: string,
): boolean | 'some' {
  const count = conversations.filter(({ labelIds }) => labelIds.includes(labelId)).length
  return count === 0 ? false : count === conversations.length ? true : 'some'
}

export const isResolvedOrClosed = (status: Conversation['status']): boolean =>
  status === 'resolved' || status === 'closed'
