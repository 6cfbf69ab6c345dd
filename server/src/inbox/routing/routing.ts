import type { TeamAssignment } from '../../workspaces/teams/teams.ts'
import { type AgentKey, agent, canKeyOwn, firstOwner, human, isSameOwner, type Owner } from '../conversation/owner.ts'

// Pure rules of who gets a conversation: which agent, which team, and which person of the team.

/** Which agent may own a new conversation. `default`: the oldest key that answers new ones. */
export type RuleAgent = 'default' | 'none' | { keyId: string }

export interface RoutingRule {
  agent: RuleAgent
  /** Team that the conversation belongs to, and that answers it unless an agent does; null: all people. */
  teamId: string | null
}

/** The rule of a workspace that has set none. */
export const defaultRule: RoutingRule = { agent: 'default', teamId: null }

export interface RoutedMember {
  userId: string
  /** Turn in which the person last got a conversation of the team; 0: never. */
  turn: number
  isAvailable: boolean
  /** How many open conversations the person gets at most; null: no limit. */
  capacity: number | null
}

export interface RoutedTeam {
  id: string
  assignment: TeamAssignment
  answerMinutes: number | null
  maxReassignments: number
  members: readonly RoutedMember[]
}

/** What is open now: conversations of agents by key, and conversations assigned to people by user. */
export interface Loads {
  keys: ReadonlyMap<string, number>
  people: ReadonlyMap<string, number>
}

/** What the decision depends on; valid under the workspace's routing lock. */
export interface RoutingState extends Loads {
  ruleOf: (connectionId: string) => RoutingRule
  teams: ReadonlyMap<string, RoutedTeam>
}

/** Who gets a conversation. */
export interface Route {
  owner: Owner
  teamId: string | null
  assignedTo: string | null
  /** Why the assignee was chosen. */
  reason: Exclude<TeamAssignment, 'manual'> | null
  /** Whether an agent would have got it if it had had room. */
  isAgentFull: boolean
  /** Turn of the assignee in the team. */
  turn: number
  /** Minutes that the assignee has to answer; null: as long as it takes. */
  answerMinutes: number | null
  /** Whether it waits in the team until someone is available. */
  isQueued: boolean
}

/** The route to an owner without a team. */
export const routeToOwner = (owner: Owner): Route => ({
  owner,
  ...{
    teamId: null,
    assignedTo: null,
    reason: null,
    isAgentFull: false,
    turn: 0,
    answerMinutes: null,
    isQueued: false,
  },
})

const hasRoom = (capacity: number | null | undefined, load: number): boolean => capacity == null || load < capacity

export interface AgentFacts {
  keys: readonly AgentKey[]
  loads: ReadonlyMap<string, number>
  isStopped: boolean
  now: Date
}

/** Returns the owner of a new conversation by the agents' part of a rule; people if every agent is out or full. */
export function chooseAgent(
  { agent: choice }: RoutingRule,
  connectionId: string,
  { keys, loads, isStopped, now }: AgentFacts,
): Pick<Route, 'owner' | 'isAgentFull'> {
  const chosenOf = (among: readonly AgentKey[]): Owner => {
    if (choice === 'none' || isStopped) return human
    if (choice === 'default') return firstOwner(among, connectionId, false, now)
    const key = among.find(({ id }) => id === choice.keyId)
    return key !== undefined && canKeyOwn(key, connectionId, now) ? agent(key.id) : human
  }
  const owner = chosenOf(keys.filter(({ id, capacity }) => hasRoom(capacity, loads.get(id) ?? 0)))
  return { owner, isAgentFull: owner.type === 'human' && !isSameOwner(owner, chosenOf(keys)) }
}

/**
 * Returns the member who gets the team's next conversation: of those who are available and have room, who has waited
 * the longest for one, and with `least_busy` first who has the fewest open. Null: nobody.
 */
export function nextMember(
  { assignment, members }: Pick<RoutedTeam, 'assignment' | 'members'>,
  loads: ReadonlyMap<string, number>,
  except: string | null = null,
): RoutedMember | null {
  if (assignment === 'manual') return null
  const loadOf = ({ userId }: RoutedMember) => loads.get(userId) ?? 0
  const [next] = members
    .filter((one) => one.isAvailable && one.userId !== except && hasRoom(one.capacity, loadOf(one)))
    .sort(
      (a, b) =>
        (assignment === 'least_busy' ? loadOf(a) - loadOf(b) : 0) || a.turn - b.turn || (a.userId < b.userId ? -1 : 1),
    )
  return next ?? null
}

/** Decides about several conversations, each after the ones before it. */
export interface Router {
  /** Returns who gets a new conversation of the connection. */
  route(connectionId: string): Route
  /** Returns who of the team gets a conversation of people, except a person who had it. */
  assign(teamId: string, except?: string | null): Route
}

export function createRouter(state: RoutingState, agents: Omit<AgentFacts, 'loads'>): Router {
  const keyLoads = new Map(state.keys)
  const loads = new Map(state.people)
  const teams = new Map([...state.teams].map(([id, team]) => [id, { ...team, members: [...team.members] }]))
  const assign = (teamId: string, except: string | null = null): Route => {
    const team = teams.get(teamId)
    if (team === undefined) return routeToOwner(human)
    const next = nextMember(team, loads, except)
    const { assignment, answerMinutes } = team
    const inTeam = { ...routeToOwner(human), teamId }
    if (next === null || assignment === 'manual') return { ...inTeam, isQueued: assignment !== 'manual' }
    const turn = Math.max(...team.members.map((one) => one.turn)) + 1
    team.members = team.members.map((one) => (one === next ? { ...one, turn } : one))
    increment(loads, next.userId)
    return { ...inTeam, assignedTo: next.userId, reason: assignment, turn, answerMinutes }
  }
  return {
    assign,
    route: (connectionId) => {
      const rule = state.ruleOf(connectionId)
      const chosen = chooseAgent(rule, connectionId, { ...agents, loads: keyLoads })
      const teamId = rule.teamId !== null && teams.has(rule.teamId) ? rule.teamId : null
      if (chosen.owner.type === 'agent') {
        increment(keyLoads, chosen.owner.keyId)
        return { ...routeToOwner(chosen.owner), teamId }
      }
      return { ...(teamId === null ? routeToOwner(human) : assign(teamId)), isAgentFull: chosen.isAgentFull }
    },
  }
}

const increment = (loads: Map<string, number>, id: string) => loads.set(id, (loads.get(id) ?? 0) + 1)

/** A conversation of a team that waits for its assignee to answer, or for someone to assign. */
export interface RoutingWait {
  teamId: string
  /** Null: nobody was available. */
  userId: string | null
  /** How many people have not answered. */
  attempts: number
}

/** Facts about the conversation that waits, read under its lock. */
export interface WaitingConversation {
  isOfPeople: boolean
  isOpen: boolean
  /** Whether the customer waits for an answer, or an agent for someone to take over. */
  isWaiting: boolean
  teamId: string | null
  assignedTo: string | null
}

/** What happens when a wait is due. `end`: it is over. `release`: the conversation stays unassigned in the team. */
export type WaitStep = 'end' | 'assign' | 'release'

export function waitStep(
  wait: RoutingWait,
  conversation: WaitingConversation,
  team: Pick<RoutedTeam, 'assignment' | 'maxReassignments'> | undefined,
): WaitStep {
  const isSame = conversation.teamId === wait.teamId && conversation.assignedTo === wait.userId
  if (team === undefined || team.assignment === 'manual' || !isSame) return 'end'
  if (!conversation.isOfPeople || !conversation.isOpen || !conversation.isWaiting) return 'end'
  return wait.userId !== null && wait.attempts >= team.maxReassignments ? 'release' : 'assign'
}
