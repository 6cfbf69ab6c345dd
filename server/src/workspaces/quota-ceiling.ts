import { forbidden, invalid } from '../base/errors.ts'

/** New leads per UTC day: what is set, and the most that the workspace's own admins may set. 0 is unlimited. */
export interface Quota {
  quota: number
  ceiling: number
}

/** What a request asks for. */
export function quotaIn(input: { dailyLeadQuota?: number; dailyLeadQuotaCeiling?: number }): Partial<Quota> {
  const { dailyLeadQuota: quota, dailyLeadQuotaCeiling: ceiling } = input
  return { ...(quota !== undefined && { quota }), ...(ceiling !== undefined && { ceiling }) }
}

const defaultQuota = 100_000

/** An operator's quota is a ceiling as well, unless they give another. */
export function firstQuota(wanted: Partial<Quota>): Quota {
  const quota = wanted.quota ?? (wanted.ceiling === undefined ? defaultQuota : capped(defaultQuota, wanted.ceiling))
  const ceiling = wanted.ceiling ?? quota
  if (!isWithin(quota, ceiling)) throw aboveCeiling(ceiling)
  return { quota, ceiling }
}

/**
 * The ceiling protects the installation from a tenant, so only an operator moves it. Their quota lifts it along, and the
 * quota comes down with a lower ceiling.
 */
export function changedQuota(before: Quota, wanted: Partial<Quota>, isOperator: boolean): Quota {
  if (!isOperator) {
    if (wanted.ceiling !== undefined) throw forbidden('Only an operator of this installation moves the ceiling')
    const quota = wanted.quota ?? before.quota
    // What is there may stay, also in a form that is sent back whole.
    if (quota !== before.quota && !isWithin(quota, before.ceiling)) throw aboveCeiling(before.ceiling)
    return { quota, ceiling: before.ceiling }
  }
  const { quota, ceiling } = wanted
  if (ceiling === undefined) {
    const kept = quota === undefined || isWithin(quota, before.ceiling)
    return { quota: quota ?? before.quota, ceiling: kept ? before.ceiling : quota }
  }
  if (quota !== undefined && !isWithin(quota, ceiling)) throw aboveCeiling(ceiling)
  return { quota: quota ?? capped(before.quota, ceiling), ceiling }
}

function isWithin(quota: number, ceiling: number): boolean {
  return ceiling === 0 || (quota > 0 && quota <= ceiling)
}

const capped = (quota: number, ceiling: number) => (isWithin(quota, ceiling) ? quota : ceiling)

const aboveCeiling = (ceiling: number) =>
  invalid('dailyLeadQuota', `must be from 1 to ${ceiling}: only an operator of this installation allows more`)
