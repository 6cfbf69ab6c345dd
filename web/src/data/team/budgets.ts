import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../../api/client.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/budgets'
const onePath = `${path}/{budgetId}` as const

export type Budget = Awaited<ReturnType<typeof listBudgets>>[number]
export type NewBudget = Pick<Budget, 'scope' | 'scopeId' | 'unit' | 'period' | 'limit'>

const pollMs = 30_000

export const budgetsKey = (workspaceId: string) => [workspaceId, 'budgets'] as const

const listBudgets = async (workspaceId: string) =>
  (await unwrap(api.GET(path, { params: { path: { workspaceId } } }))).budgets

export function useBudgets(workspaceId: string) {
  return useQuery({
    queryKey: budgetsKey(workspaceId),
    queryFn: () => listBudgets(workspaceId),
    // No event announces what is used.
    refetchInterval: pollMs,
    staleTime: 0,
  })
}

export const createBudget = (workspaceId: string, budget: NewBudget) =>
  unwrap(api.POST(path, { params: { path: { workspaceId } }, body: budget }))

export const changeBudget = (workspaceId: string, budgetId: string, limit: string) =>
  unwrap(api.PATCH(onePath, { params: { path: { workspaceId, budgetId } }, body: { limit } }))

export const deleteBudget = (workspaceId: string, budgetId: string) =>
  unwrap(api.DELETE(onePath, { params: { path: { workspaceId, budgetId } } }))
