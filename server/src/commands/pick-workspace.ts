import type { TeamCall } from './team-call.ts'

export interface Workspace {
  id: string
  name: string
  defaultCountry: string | null
  /** How long an agent may leave a customer waiting; null: for ever. */
  agentWatchdogMinutes: number | null
  createdAt: string
}

export async function listWorkspaces(call: TeamCall): Promise<Workspace[]> {
  const { workspaces } = await call<{ workspaces: Workspace[] }>('GET', '/workspaces')
  return workspaces
}

/** The workspace of this id or name; without either, the only one there is. */
export async function pickWorkspace(call: TeamCall, wanted: string | undefined): Promise<Workspace> {
  const workspaces = await listWorkspaces(call)
  const fitting =
    wanted === undefined ? workspaces : workspaces.filter(({ id, name }) => id === wanted || name === wanted)
  const [workspace, other] = fitting
  if (workspace !== undefined && other === undefined) return workspace
  if (workspaces.length === 0) {
    throw new Error('There is no workspace yet. Make one with: parley workspace create "Acme" --owner you@example.com')
  }
  const names = workspaces.map(({ id, name }) => `  ${id}  ${name}`).join('\n')
  const problem = fitting.length > 1 ? 'Say which workspace, with --workspace' : `There is no workspace "${wanted}"`
  throw new Error(`${problem}. There are:\n${names}`)
}
