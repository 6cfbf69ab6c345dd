import { type QueryClient, useQuery } from '@tanstack/react-query'
import { api, type ResponseOf } from '../../api/client.ts'
import { budgetsKey } from './budgets.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/costs'
const cardsPath = '/api/team/v1/workspaces/{workspaceId}/rate-cards'
const billingPath = '/api/team/v1/workspaces/{workspaceId}/billing-settings'
const dayMs = 86_400_000

export type Costs = ResponseOf<typeof path>
export type CostGroup = Costs['groups'][number]

export type Billing = ResponseOf<typeof cardsPath>
export type BillingSettings = Billing['settings']

export const costGroupings = ['sender', 'connection', 'template', 'category', 'country'] as const
export type CostGrouping = (typeof costGroupings)[number]

const costsKey = (workspaceId: string) => [workspaceId, 'costs'] as const

const billingKey = (workspaceId: string) => [workspaceId, 'billing'] as const

const firstDay = (days: number) => new Date(Date.now() - (days - 1) * dayMs).toISOString().slice(0, 10)

/**
 * Returns what the platform has charged in the last days, by day or by another grouping. A currency limits it to the
 * connections that are billed in it.
 */
export function useCosts(workspaceId: string, days: number, by: 'day' | CostGrouping, currency: string | null) {
  return useQuery({
    queryKey: [...costsKey(workspaceId), days, by, currency],
    queryFn: () => api.GET(path, { workspaceId, query: { from: firstDay(days), by, currency } }),
    staleTime: 30_000,
    // Groups of another kind have other keys.
    placeholderData: (before, query) =>
      query?.queryKey[3] === by && query.queryKey[4] === currency ? before : undefined,
  })
}

/** Address of the CSV file with the costs of the last days. */
export const costsExportUrl = (workspaceId: string, days: number, currency: string | null): string =>
  `${path.replace('{workspaceId}', workspaceId)}/export?from=${firstDay(days)}${currency === null ? '' : `&currency=${currency}`}`

/**
 * Imports the prices of a CSV file. Errors name the faulty rows. `validFrom`: the day from which a file of the platform is
 * valid, which the service asks for if it needs it.
 */
export async function importRateCards(
  queries: QueryClient,
  workspaceId: string,
  { csv, validFrom }: { csv: string; validFrom: string | null },
): Promise<number> {
  const body = { csv, ...(validFrom !== null && { validFrom }) }
  const { rateCards } = await api.POST(cardsPath, { workspaceId, body })
  await queries.invalidateQueries({ queryKey: costsKey(workspaceId) })
  return rateCards.reduce((sum, { rates }) => sum + rates, 0)
}

/** Returns how the platform bills the workspace, and which connections have another currency. For admins. */
export function useBilling(workspaceId: string) {
  return useQuery({ queryKey: billingKey(workspaceId), queryFn: () => api.GET(cardsPath, { workspaceId }) })
}

export interface BillingChanges {
  /** Of the whole workspace. */
  settings: Partial<BillingSettings>
  /** Of the connection; null: that of the workspace. Absent: unchanged. */
  currency?: string | null
}

/** Changes how the platform bills. All costs are then computed again. */
export async function changeBilling(
  queries: QueryClient,
  workspaceId: string,
  connectionId: string,
  { settings, currency }: BillingChanges,
): Promise<void> {
  try {
    if (Object.keys(settings).length > 0) {
      await api.PATCH(billingPath, { workspaceId, body: settings })
    }
    if (currency !== undefined) {
      await api.PUT(`${billingPath}/connections/{connectionId}`, { workspaceId, connectionId, body: { currency } })
    }
  } finally {
    // The first change may have been made.
    await Promise.all(
      [billingKey, costsKey, budgetsKey].map((key) => queries.invalidateQueries({ queryKey: key(workspaceId) })),
    )
  }
}
