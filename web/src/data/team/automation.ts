import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, type Schemas } from '../../api/client.ts'
import { pagedBy } from '../../api/paged-by.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/automation/rules'
const onePath = `${path}/{ruleId}` as const
const orderPath = '/api/team/v1/workspaces/{workspaceId}/automation/order'
const dryRunPath = '/api/team/v1/workspaces/{workspaceId}/automation/dry-runs'
const macroPath = '/api/team/v1/workspaces/{workspaceId}/automation/macros'
const oneMacroPath = `${macroPath}/{macroId}` as const
const runPath = '/api/team/v1/workspaces/{workspaceId}/inbox/conversations/{id}/macros/{macroId}'

export type Rule = Schemas['AutomationRule']
export type RuleDraft = Schemas['AutomationRuleDraft']
export type Condition = Schemas['AutomationCondition']
export type Action = Schemas['AutomationAction']
export type DryRun = Schemas['AutomationDryRun']
export type LoggedRun = Schemas['AutomationLog']['runs'][number]
export type Macro = Schemas['Macro']
export type MacroDraft = Schemas['MacroDraft']

export const rulesKey = (workspaceId: string) => [workspaceId, 'automation'] as const
export const macrosKey = (workspaceId: string) => [workspaceId, 'macros'] as const
// Changes are rare.
const staleMs = 60_000

export function useRules(workspaceId: string) {
  return useQuery({
    queryKey: rulesKey(workspaceId),
    queryFn: async () => (await api.GET(path, { workspaceId })).rules,
  })
}

export const createRule = async (workspaceId: string, body: RuleDraft) =>
  (await api.POST(path, { workspaceId, body })).rule

export const changeRule = async (
  workspaceId: string,
  ruleId: string,
  body: Partial<RuleDraft> & { enabled?: boolean },
) => (await api.PATCH(onePath, { workspaceId, ruleId, body })).rule

export const deleteRule = (workspaceId: string, ruleId: string) => api.DELETE(onePath, { workspaceId, ruleId })

export const orderRules = (workspaceId: string, ids: string[]) => api.PUT(orderPath, { workspaceId, body: { ids } })

export const tryRule = async (workspaceId: string, body: RuleDraft): Promise<DryRun['events']> =>
  (await api.POST(dryRunPath, { workspaceId, body })).events

/** Pages of what a rule did, newest first. */
export function useRuns(workspaceId: string, ruleId: string) {
  return useInfiniteQuery({
    queryKey: [...rulesKey(workspaceId), ruleId, 'runs'],
    queryFn: ({ pageParam: before }) => api.GET(`${onePath}/runs`, { workspaceId, ruleId, query: { before } }),
    ...pagedBy('before'),
  })
}

export function useMacros(workspaceId: string) {
  return useQuery({
    queryKey: macrosKey(workspaceId),
    queryFn: async () => (await api.GET(macroPath, { workspaceId })).macros,
    staleTime: staleMs,
  })
}

export const saveMacro = async (workspaceId: string, macroId: string | null, body: MacroDraft): Promise<void> => {
  if (macroId === null) await api.POST(macroPath, { workspaceId, body })
  else await api.PUT(oneMacroPath, { workspaceId, macroId, body })
}

export const deleteMacro = (workspaceId: string, macroId: string) => api.DELETE(oneMacroPath, { workspaceId, macroId })

/** Runs a macro on a conversation; returns why it did not do all of its actions, or null. */
export async function runMacro(workspaceId: string, id: string, macroId: string) {
  return (await api.POST(runPath, { workspaceId, id, macroId, body: { requestId: crypto.randomUUID() } })).problem
}
