import type { Sql } from '../../base/db.ts'
import { findBillingSettings, findCurrency, listConnectionCurrencies } from './billing-settings.ts'
import type { CostScope } from './read-costs.ts'

/** Returns how the costs of a workspace are summed: in this currency, or that of its billing settings. */
export async function costScopeOf(
  sql: Sql,
  workspaceId: string,
  asked: string | undefined,
): Promise<CostScope & { currencies: string[] }> {
  const [settings, connections] = await Promise.all([
    findBillingSettings(sql, workspaceId),
    listConnectionCurrencies(sql, workspaceId),
  ])
  const baseCurrency = await findCurrency(sql, workspaceId, settings)
  const own = connections.map(({ currency }) => currency).sort()
  const currencies = [...new Set([...(baseCurrency === null ? [] : [baseCurrency]), ...own])]
  return { workspaceId, connectionIds: null, settings, currency: asked ?? baseCurrency, baseCurrency, currencies }
}
