import { setTimeout as wait } from 'node:timers/promises'
import pLimit from 'p-limit'
import { ApiError } from '../../base/errors.ts'
import { checkRun } from '../scenario/check-run.ts'
import { type Outcome, verdictOf } from '../scenario/compare-runs.ts'
import { sandboxKeyOf } from '../scenario/parse-scenario.ts'
import type { Entry, RecordedCall, Score } from '../scenario/recorded-run.ts'
import type { Scenario } from '../scenario/scenario-schema.ts'
import { type PreparedPlay, playScenario, prepareScenario, type RunSpeed } from './play-scenario.ts'
import { closeSandbox, openSandbox, prepareSandbox, type RunDeps, type Sandbox } from './prepare-sandbox.ts'
import { isAgentConnected } from './sandbox-calls.ts'

export interface RunRequest {
  scenarios: readonly Scenario[]
  agent: string
  instructions: string | null
  webhookUrl: string | null
  pace: RunSpeed
  /** Conversations at a time. */
  parallel: number
  /** How long to wait until an agent has called with the key of its sandbox; 0: begin at once. */
  connectWithinSeconds: number
  createdBy: { type: 'user' | 'token'; id: string }
}

/** Scenarios that share a sandbox, with their positions in the run. */
export interface Group {
  sandbox: Sandbox
  scenarios: { position: number; scenario: Scenario }[]
}

/** Sandboxes of one run: each has a key, and needs an agent of its own. */
export const maxGroups = 8

/** Result of a scenario, with what the agent called. */
export interface ScenarioOutcome extends Outcome {
  calls: RecordedCall[]
  ms: number
}

/** Scores a conversation; null if it cannot. */
export type Judge = (criteria: string, entries: readonly Entry[]) => Promise<Score | null>

export interface Progress {
  started(position: number): Promise<void>
  ended(position: number, outcome: ScenarioOutcome): Promise<void>
}

/** Groups scenarios by what their sandboxes must be like. */
export function groupScenarios(scenarios: readonly Scenario[]): { position: number; scenario: Scenario }[][] {
  const placed = scenarios.map((scenario, position) => ({ position, scenario }))
  return [...Map.groupBy(placed, ({ scenario }) => sandboxKeyOf(scenario)).values()]
}

/** Creates the sandboxes of a run. Removes those that exist if one cannot be created. */
export async function prepareGroups(deps: RunDeps, simulatorUrl: string, request: RunRequest): Promise<Group[]> {
  const { agent, instructions, webhookUrl, createdBy } = request
  const groups: Group[] = []
  try {
    for (const scenarios of groupScenarios(request.scenarios)) {
      const settings = scenarios[0]?.scenario.sandbox ?? {}
      const wanted = { settings, instructions, agent, webhookUrl, createdBy }
      groups.push({ sandbox: await prepareSandbox(deps, simulatorUrl, wanted), scenarios })
    }
    return groups
  } catch (error) {
    await closeGroups(deps, groups)
    throw error
  }
}

export async function closeGroups(deps: RunDeps, groups: readonly Group[]): Promise<void> {
  for (const { sandbox } of groups) await closeSandbox(deps, sandbox)
}

/** Plays the scenarios of all groups, a number of conversations at a time. Throws if `signal` is aborted. */
export async function runGroups(
  deps: RunDeps & { judge: Judge | null },
  groups: readonly Group[],
  request: RunRequest,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const limit = pLimit(request.parallel)
  await Promise.all(
    groups.map(async ({ sandbox, scenarios }) => {
      const plays = []
      for (const { position, scenario } of scenarios) {
        signal.throwIfAborted()
        plays.push({ position, scenario, play: await prepareOrExplain(deps, sandbox, scenario) })
      }
      const isConnected = await waitForAgent(deps, sandbox, request, signal)
      await openSandbox(deps, sandbox)
      await Promise.all(
        plays.map(({ position, scenario, play }) =>
          limit(async () => {
            signal.throwIfAborted()
            await progress.started(position)
            const prepared = isConnected ? play : notConnected(request.connectWithinSeconds)
            await progress.ended(position, await playOne(deps, scenario, prepared, request.pace, signal))
          }),
        ),
      )
    }),
  )
}

const notConnected = (seconds: number): string =>
  `No agent has called with the key of this sandbox within ${seconds} seconds`

/** Returns the prepared scenario, or why its starting state is refused. */
async function prepareOrExplain(deps: RunDeps, sandbox: Sandbox, scenario: Scenario): Promise<PreparedPlay | string> {
  try {
    return await prepareScenario(deps, sandbox, scenario)
  } catch (error) {
    if (error instanceof ApiError && error.statusCode < 500) return `The starting state is refused: ${describe(error)}`
    throw error
  }
}

function describe({ message, data }: ApiError): string {
  const issues = (data?.issues ?? []) as { path: string; message: string }[]
  return [message, ...issues.map((issue) => `${issue.path} ${issue.message}`)].join('; ')
}

const connectPollMs = 200

async function waitForAgent(
  { db }: RunDeps,
  { workspaceId }: Sandbox,
  { connectWithinSeconds, webhookUrl }: RunRequest,
  signal: AbortSignal,
): Promise<boolean> {
  if (connectWithinSeconds === 0 || webhookUrl !== null) return true
  const untilMs = performance.now() + connectWithinSeconds * 1000
  while (!(await isAgentConnected(db, workspaceId))) {
    if (performance.now() >= untilMs) return false
    await wait(connectPollMs, undefined, { signal })
  }
  return true
}

async function playOne(
  deps: RunDeps & { judge: Judge | null },
  scenario: Scenario,
  play: PreparedPlay | string,
  pace: RunSpeed,
  signal: AbortSignal,
): Promise<ScenarioOutcome> {
  const { name, expect } = scenario
  if (typeof play === 'string') {
    const checks = [
      { check: 'played' as const, passed: false, expected: 'The script is played to its end', actual: play },
    ]
    return { name, verdict: 'error', checks, entries: [], calls: [], ms: 0 }
  }
  const record = await playScenario(play, pace, signal)
  const { judge } = deps
  const score = expect.judge === undefined || judge === null ? null : await judge(expect.judge.criteria, record.entries)
  const checks = checkRun(expect, record, score)
  return { name, verdict: verdictOf(checks), checks, entries: record.entries, calls: record.calls, ms: record.ms }
}
