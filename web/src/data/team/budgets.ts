import { useQuery } from '@tanstack/react-query'
import { api, type Schemas } from '../../api/client.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/budgets'
const onePath = `${path}/{budgetId}` as const

export type Budget = Schemas['Budget']
export type NewBudget = Pick<Budget, 'scope' | 'scopeId' | 'unit' | 'period' | 'limit'>

const pollMs = 30_000

export const budgetsKey = (workspaceId: string) => [workspaceId, 'budgets'] as const

export function useBudgets(workspaceId: string) {
  return useQuery({
    queryKey: budgetsKey(workspaceId),
    queryFn: async () => (await api.GET(path, { workspaceId })).budgets,
    // No event announces what is used.
    refetchInterval: pollMs,
    staleTime: 0,
  })
}

export const createBudget = (workspaceId: string, body: NewBudget) => api.POST(path, { workspaceId, body })

export const changeBudget = (workspaceId: string, budgetId: string, limit: string) =>
  api.PATCH(onePath, { workspaceId, budgetId, body: { limit } })

export const deleteBudget = (workspaceId: string, budgetId: string) => api.DELETE(onePath, { workspaceId, budgetId })
