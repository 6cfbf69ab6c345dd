import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../../api/client.ts'

const base = '/api/team/v1/workspaces/{workspaceId}'
const path = `${base}/scenarios` as const
const onePath = `${path}/{scenarioId}` as const
const runsPath = `${base}/scenario-runs` as const
const runPath = `${runsPath}/{runId}` as const

export type Scenarios = Awaited<ReturnType<typeof readScenarios>>
export type Scenario = Scenarios['scenarios'][number]
export type ScenarioRun = Awaited<ReturnType<typeof readRuns>>[number]
export type RunDetail = Awaited<ReturnType<typeof readRun>>
export type ScenarioResult = RunDetail['results'][number]
export type StartedRun = Awaited<ReturnType<typeof startRun>>

export interface NewRun {
  scenarioIds: string[]
  agent: string
  instructions?: string
  webhookUrl?: string
  speed: number
}

const runPollMs = 1000

const at = (workspaceId: string) => ({ params: { path: { workspaceId } } })

export const scenariosKey = (workspaceId: string) => [workspaceId, 'scenarios'] as const
export const runsKey = (workspaceId: string) => [workspaceId, 'scenario-runs'] as const

const readScenarios = (workspaceId: string) => unwrap(api.GET(path, at(workspaceId)))
const readRuns = async (workspaceId: string) => (await unwrap(api.GET(runsPath, at(workspaceId)))).runs
const readRun = (workspaceId: string, runId: string) =>
  unwrap(api.GET(runPath, { params: { path: { workspaceId, runId } } }))

export function useScenarios(workspaceId: string) {
  return useQuery({ queryKey: scenariosKey(workspaceId), queryFn: () => readScenarios(workspaceId) })
}

export const isGoingOn = ({ status }: ScenarioRun): boolean => status === 'waiting' || status === 'running'

export function useScenarioRuns(workspaceId: string) {
  return useQuery({
    queryKey: runsKey(workspaceId),
    queryFn: () => readRuns(workspaceId),
    // No event announces results.
    refetchInterval: ({ state }) => (state.data?.some(isGoingOn) ? runPollMs * 2 : false),
    staleTime: 0,
  })
}

export function useScenarioRun(workspaceId: string, runId: string) {
  return useQuery({
    queryKey: [...runsKey(workspaceId), runId],
    queryFn: () => readRun(workspaceId, runId),
    refetchInterval: ({ state }) => (state.data === undefined || isGoingOn(state.data.run) ? runPollMs : false),
    staleTime: 0,
  })
}

export const saveScenario = async (workspaceId: string, known: Scenario | null, text: string): Promise<Scenario> => {
  if (known === null) return (await unwrap(api.POST(path, { ...at(workspaceId), body: { text } }))).scenario
  const params = { path: { workspaceId, scenarioId: known.id } }
  return (await unwrap(api.PUT(onePath, { params, body: { text, version: known.version } }))).scenario
}

export const deleteScenario = (workspaceId: string, scenarioId: string) =>
  unwrap(api.DELETE(onePath, { params: { path: { workspaceId, scenarioId } } }))

export const addStarterSet = async (workspaceId: string) =>
  (await unwrap(api.POST(`${path}/starter-set`, at(workspaceId)))).added

export const startRun = (workspaceId: string, body: NewRun) => unwrap(api.POST(runsPath, { ...at(workspaceId), body }))

export const cancelRun = (workspaceId: string, runId: string) =>
  unwrap(api.POST(`${runPath}/cancel`, { params: { path: { workspaceId, runId } } }))

/** Returns the text of a scenario that plays a conversation, without its personal data. */
export function useConversationScenario(workspaceId: string, conversationId: string | null) {
  return useQuery({
    queryKey: [...scenariosKey(workspaceId), 'from', conversationId],
    queryFn: async () => {
      const params = { path: { workspaceId, conversationId: conversationId ?? '' } }
      return (await unwrap(api.GET(`${path}/from-conversation/{conversationId}`, { params }))).text
    },
    enabled: conversationId !== null,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  })
}
