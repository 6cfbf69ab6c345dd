export const reviewDays = [7, 30, 90] as const

/** Query parameters of the numbers of agents. */
export interface ReviewSearch {
  /** Days of the period; 30 by default. */
  days?: (typeof reviewDays)[number]
  /** The agent; by default the one with the most cases. */
  key?: string
  /** Another agent, or `before` for the previous period, to compare with. */
  with?: string
}

const idOrWord = /^[a-z0-9-]{1,36}$/

/** Drops invalid parameters. */
export function readReviewSearch(raw: Record<string, unknown>): ReviewSearch {
  const days = reviewDays.find((one) => one === raw.days)
  const { key, with: other } = raw
  return {
    ...(days !== undefined && { days }),
    ...(typeof key === 'string' && idOrWord.test(key) && { key }),
    ...(typeof other === 'string' && idOrWord.test(other) && { with: other }),
  }
}
