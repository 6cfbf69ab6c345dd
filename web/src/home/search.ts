export const homeDays = [7, 30, 90] as const
export type HomeDays = (typeof homeDays)[number]

export interface HomeSearch {
  /** How far the charts look back; 30 unless it says otherwise. */
  days?: HomeDays
}

/** Leaves out what nobody of us wrote. */
export function readHomeSearch(raw: Record<string, unknown>): HomeSearch {
  const days = homeDays.find((one) => one === raw.days)
  return days === undefined ? {} : { days }
}
