export const homeDays = [7, 30, 90] as const
export type HomeDays = (typeof homeDays)[number]

export interface HomeSearch {
  /** Days covered by the charts; 30 by default. */
  days?: HomeDays
}

/** Drops invalid parameters. */
export function readHomeSearch(raw: Record<string, unknown>): HomeSearch {
  const days = homeDays.find((one) => one === raw.days)
  return days === undefined ? {} : { days }
}
