import { forbidden, invalid } from '../base/errors.ts'

/** Maximum number of new leads per UTC day: the current quota, and the most that admins may set. 0 is unlimited. */
export interface Quota {
  quota: number
  ceiling: number
}

/** Returns the quota fields of a request. */
export function parseQuota(input: { dailyLeadQuota?: number; dailyLeadQuotaCeiling?: number }): Partial<Quota> {
  const { dailyLeadQuota: quota, dailyLeadQuotaCeiling: ceiling } = input
  return { ...(quota !== undefined && { quota }), ...(ceiling !== undefined && { ceiling }) }
}

const defaultQuota = 100_000

/** Returns the quota of a new workspace. An operator's quota is also the ceiling, unless they send another. */
export function initialQuota(requested: Partial<Quota>): Quota {
  const quota =
    requested.quota ?? (requested.ceiling === undefined ? defaultQuota : capped(defaultQuota, requested.ceiling))
  const ceiling = requested.ceiling ?? quota
  if (!isWithin(quota, ceiling)) throw aboveCeiling(ceiling)
  return { quota, ceiling }
}

/**
 * Applies a change. The ceiling protects the installation from a tenant, so only operators can change it. An operator's
 * higher quota raises the ceiling, and a lower ceiling lowers the quota.
 */
export function applyQuotaChange(before: Quota, requested: Partial<Quota>, isOperator: boolean): Quota {
  if (!isOperator) {
    if (requested.ceiling !== undefined) throw forbidden('Only operators can change the quota limit')
    const quota = requested.quota ?? before.quota
    // An unchanged quota above the ceiling is allowed, so that a form can send all fields back.
    if (quota !== before.quota && !isWithin(quota, before.ceiling)) throw aboveCeiling(before.ceiling)
    return { quota, ceiling: before.ceiling }
  }
  const { quota, ceiling } = requested
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
  invalid('dailyLeadQuota', `must be from 1 to ${ceiling}: only operators can set more`)
