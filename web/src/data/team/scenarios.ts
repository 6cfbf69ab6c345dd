import { useQuery } from '@tanstack/react-query'
import { api, type ResponseOf, type Schemas } from '../../api/client.ts'

const base = '/api/team/v1/workspaces/{workspaceId}'
const path = `${base}/scenarios` as const
const onePath = `${path}/{scenarioId}` as const
const runsPath = `${base}/scenario-runs` as const
const runPath = `${runsPath}/{runId}` as const

export type Scenarios = ResponseOf<typeof path>
export type Scenario = Schemas['Scenario']
export type ScenarioRun = Schemas['ScenarioRun']
export type ScenarioResult = Schemas['ScenarioResult']
export type StartedRun = Schemas['StartedScenarioRun']

const runPollMs = 1000

export const scenariosKey = (workspaceId: string) => [workspaceId, 'scenarios'] as const
export const runsKey = (workspaceId: string) => [workspaceId, 'scenario-runs'] as const

export function useScenarios(workspaceId: string) {
  return useQuery({ queryKey: scenariosKey(workspaceId), queryFn: () => api.GET(path, { workspaceId }) })
}

export const isGoingOn = ({ status }: ScenarioRun): boolean => status === 'waiting' || status === 'running'

export function useScenarioRuns(workspaceId: string) {
  return useQuery({
    queryKey: runsKey(workspaceId),
    queryFn: async () => (await api.GET(runsPath, { workspaceId })).runs,
    // No event announces results.
    refetchInterval: ({ state }) => (state.data?.some(isGoingOn) ? runPollMs * 2 : false),
    staleTime: 0,
  })
}

export function useScenarioRun(workspaceId: string, runId: string) {
  return useQuery({
    queryKey: [...runsKey(workspaceId), runId],
    queryFn: () => api.GET(runPath, { workspaceId, runId }),
    refetchInterval: ({ state }) => (state.data === undefined || isGoingOn(state.data.run) ? runPollMs : false),
    staleTime: 0,
  })
}

export const saveScenario = async (workspaceId: string, known: Scenario | null, text: string): Promise<Scenario> => {
  if (known === null) return (await api.POST(path, { workspaceId, body: { text } })).scenario
  const { id: scenarioId, version } = known
  return (await api.PUT(onePath, { workspaceId, scenarioId, body: { text, version } })).scenario
}

export const deleteScenario = (workspaceId: string, scenarioId: string) =>
  api.DELETE(onePath, { workspaceId, scenarioId })

export const addStarterSet = async (workspaceId: string) =>
  (await api.POST(`${path}/starter-set`, { workspaceId })).added

export const startRun = (workspaceId: string, body: Schemas['NewScenarioRun']) =>
  api.POST(runsPath, { workspaceId, body })

export const cancelRun = (workspaceId: string, runId: string) => api.POST(`${runPath}/cancel`, { workspaceId, runId })

/** Returns the text of a scenario that plays a conversation, without its personal data. */
export function useConversationScenario(workspaceId: string, id: string | null) {
  const fromPath = `${path}/from-conversation/{conversationId}` as const
  return useQuery({
    queryKey: [...scenariosKey(workspaceId), 'from', id],
    queryFn: async () => (await api.GET(fromPath, { workspaceId, conversationId: id ?? '' })).text,
    enabled: id !== null,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  })
}
