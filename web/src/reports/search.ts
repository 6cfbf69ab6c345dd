import { reportDimensionValues } from '../api/schema.ts'
import type { Dimension } from '../data/team/reports.ts'

export const reportDays = [7, 30, 90] as const
export type ReportDays = (typeof reportDays)[number]
export const defaultDays = 30

export const dimensions = reportDimensionValues

/** Query parameters of the page. */
export interface ReportSearch {
  /** Days of the period; 30 by default. */
  days?: ReportDays
  /** Only one value of a dimension. */
  dimension?: Dimension
  value?: string
  /** What the table groups by; numbers by default. */
  by?: Dimension
}

const valueShape = /^[a-z0-9_-]{1,36}$/

/** Drops invalid parameters. */
export function readReportSearch(raw: Record<string, unknown>): ReportSearch {
  const days = reportDays.find((one) => one === raw.days)
  const dimension = dimensions.find((one) => one === raw.dimension)
  const by = dimensions.find((one) => one === raw.by)
  const { value } = raw
  return {
    ...(days !== undefined && days !== defaultDays && { days }),
    ...(dimension !== undefined && typeof value === 'string' && valueShape.test(value) && { dimension, value }),
    ...(by !== undefined && { by }),
  }
}

/** Returns the parameters as they are saved. */
export const queryOf = (search: ReportSearch): string =>
  new URLSearchParams(Object.entries(search).map(([name, value]) => [name, String(value)])).toString()

/** Returns the parameters of a saved report. */
export function searchOf(query: string): ReportSearch {
  const { days, ...rest } = Object.fromEntries(new URLSearchParams(query))
  return readReportSearch({ ...rest, days: Number(days) })
}
