import { queryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../../api/client.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/automation/rules'
const onePath = `${path}/{ruleId}` as const
const orderPath = '/api/team/v1/workspaces/{workspaceId}/automation/order'
const dryRunPath = '/api/team/v1/workspaces/{workspaceId}/automation/dry-runs'
const macroPath = '/api/team/v1/workspaces/{workspaceId}/automation/macros'
const oneMacroPath = `${macroPath}/{macroId}` as const
const runPath = '/api/team/v1/workspaces/{workspaceId}/inbox/conversations/{id}/macros/{macroId}'
const at = (workspaceId: string) => ({ params: { path: { workspaceId } } })

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
    queryFn: async () => (await unwrap(api.GET(path, at(workspaceId)))).rules,
  })
}

export const createRule = async (workspaceId: string, body: RuleDraft) =>
  (await unwrap(api.POST(path, { ...at(workspaceId), body }))).rule

export const changeRule = async (
  workspaceId: string,
  ruleId: string,
  body: Partial<RuleDraft> & { enabled?: boolean },
) => (await unwrap(api.PATCH(onePath, { params: { path: { workspaceId, ruleId } }, body }))).rule

export const deleteRule = (workspaceId: string, ruleId: string) =>
  unwrap(api.DELETE(onePath, { params: { path: { workspaceId, ruleId } } }))

export const orderRules = (workspaceId: string, ids: string[]) =>
  unwrap(api.PUT(orderPath, { ...at(workspaceId), body: { ids } }))

export const tryRule = async (workspaceId: string, body: RuleDraft): Promise<DryRun['events']> =>
  (await unwrap(api.POST(dryRunPath, { ...at(workspaceId), body }))).events

/** Pages of what a rule did, newest first. */
export function useRuns(workspaceId: string, ruleId: string) {
  return useInfiniteQuery({
    queryKey: [...rulesKey(workspaceId), ruleId, 'runs'],
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET(`${onePath}/runs`, {
          params: { path: { workspaceId, ruleId }, query: pageParam === null ? {} : { before: pageParam } },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.before,
  })
}

const macrosQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: macrosKey(workspaceId),
    queryFn: async () => (await unwrap(api.GET(macroPath, at(workspaceId)))).macros,
    staleTime: staleMs,
  })

export const useMacros = (workspaceId: string) => useQuery(macrosQuery(workspaceId))

export const saveMacro = async (workspaceId: string, macroId: string | null, body: MacroDraft): Promise<void> => {
  if (macroId === null) await unwrap(api.POST(macroPath, { ...at(workspaceId), body }))
  else await unwrap(api.PUT(oneMacroPath, { params: { path: { workspaceId, macroId } }, body }))
}

export const deleteMacro = (workspaceId: string, macroId: string) =>
  unwrap(api.DELETE(oneMacroPath, { params: { path: { workspaceId, macroId } } }))

/** Runs a macro on a conversation; returns why it did not do all of its actions, or null. */
export async function runMacro(workspaceId: string, id: string, macroId: string) {
  const request = { params: { path: { workspaceId, id, macroId } }, body: { requestId: crypto.randomUUID() } }
  return (await unwrap(api.POST(runPath, request))).problem
}
