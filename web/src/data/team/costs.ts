import { type QueryClient, useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../../api/client.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/costs'
const cardsPath = '/api/team/v1/workspaces/{workspaceId}/rate-cards'
const dayMs = 86_400_000

export type Costs = Awaited<ReturnType<typeof readCosts>>
export type CostSum = Costs['total']
export type CostGroup = Costs['groups'][number]

export const costGroupings = ['sender', 'connection', 'template', 'category', 'country'] as const
export type CostGrouping = (typeof costGroupings)[number]

const costsKey = (workspaceId: string) => [workspaceId, 'costs'] as const

const firstDay = (days: number) => new Date(Date.now() - (days - 1) * dayMs).toISOString().slice(0, 10)

function readCosts(workspaceId: string, days: number, by: 'day' | CostGrouping) {
  return unwrap(api.GET(path, { params: { path: { workspaceId }, query: { from: firstDay(days), by } } }))
}

/** Returns what the platform has charged in the last days, by day or by another grouping. */
export function useCosts(workspaceId: string, days: number, by: 'day' | CostGrouping) {
  return useQuery({
    queryKey: [...costsKey(workspaceId), days, by],
    queryFn: () => readCosts(workspaceId, days, by),
    staleTime: 30_000,
    // Groups of another kind have other keys.
    placeholderData: (before, query) => (query?.queryKey[3] === by ? before : undefined),
  })
}

/** Address of the CSV file with the costs of the last days. */
export const costsExportUrl = (workspaceId: string, days: number): string =>
  `${path.replace('{workspaceId}', workspaceId)}/export?from=${firstDay(days)}`

/** Imports the prices of a CSV file. Errors name the faulty rows. */
export async function importRateCards(queries: QueryClient, workspaceId: string, csv: string): Promise<number> {
  const { rateCards } = await unwrap(api.POST(cardsPath, { params: { path: { workspaceId } }, body: { csv } }))
  await queries.invalidateQueries({ queryKey: costsKey(workspaceId) })
  return rateCards.reduce((sum, { rates }) => sum + rates, 0)
}
