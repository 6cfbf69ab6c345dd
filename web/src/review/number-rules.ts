import type { Agent, CountedNumber } from '../data/team/agent-numbers.ts'

export const shareNames = [
  'resolved',
  'reopened',
  'assisted',
  'handed_over',
  'taken_over',
  'silent',
  'draft_sent',
  'draft_edited',
  'draft_rejected',
] as const satisfies readonly CountedNumber[]
export type ShareName = (typeof shareNames)[number]

/** A number and what it is a part of. */
export interface Share {
  count: number
  of: number
}

/** Returns a number of the agent with the count that its definition names. */
export function shareOf({ cases, answered, outcomes, drafts }: Agent, name: ShareName): Share {
  switch (name) {
    // It is too early to say whether recent ones are opened again.
    case 'resolved':
    case 'reopened':
      return { count: outcomes[name], of: cases - outcomes.recent }
    case 'taken_over':
      return { count: outcomes.taken_over, of: answered }
    case 'draft_sent':
    case 'draft_edited':
    case 'draft_rejected': {
      const { sent, edited, rejected } = drafts
      return {
        count: { draft_sent: sent, draft_edited: edited, draft_rejected: rejected }[name],
        of: sent + edited + rejected,
      }
    }
    default:
      return { count: outcomes[name], of: cases }
  }
}

/** Whether more of it is better; null: neither. */
export const isMoreGood: Record<ShareName, boolean | null> = {
  resolved: true,
  reopened: false,
  assisted: null,
  handed_over: null,
  taken_over: false,
  silent: false,
  draft_sent: true,
  draft_edited: null,
  draft_rejected: false,
}

/** Returns the fraction, from 0 to 1; null if there is nothing to be a part of. */
export const fractionOf = ({ count, of }: Share): number | null => (of === 0 ? null : count / of)

const smallest = 0.005

/** Returns whether the first share is the better one; null if they are about equal or neither is better. */
export function isBetter(name: ShareName, one: Share, other: Share): boolean | null {
  const [a, b] = [fractionOf(one), fractionOf(other)]
  const moreIsGood = isMoreGood[name]
  if (a === null || b === null || moreIsGood === null || Math.abs(a - b) < smallest) return null
  return a > b === moreIsGood
}

/** Returns the last day before a period that begins on this day. */
export const dayBefore = (from: string): string => new Date(Date.parse(from) - 86_400_000).toISOString().slice(0, 10)
