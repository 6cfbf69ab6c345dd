import { createBackgroundTasks } from '../../base/async/batch.ts'
import { repeatAfterPause } from '../../base/async/loop.ts'
import { conflict, invalid } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import type { Log } from '../../base/log.ts'
import { runAsService } from '../../base/scheduling/work-context.ts'
import type { Scenario } from '../scenario/scenario-schema.ts'
import { endRun, insertRun, renewRun, startResult, storeResult } from '../store/runs.ts'
import type { RunDeps } from './prepare-sandbox.ts'
import {
  closeGroups,
  type Group,
  groupScenarios,
  type Judge,
  maxGroups,
  type Progress,
  prepareGroups,
  type RunRequest,
  runGroups,
} from './run-scenarios.ts'

export interface ScenarioRunDeps extends RunDeps {
  log: Log
  /** Null: none is configured. */
  judge: Judge | null
}

/** A run that has begun, with the keys of its sandboxes. */
export interface StartedRun {
  runId: string
  agents: { key: string; webhookSecret: string | null; scenarios: string[] }[]
}

export interface ScenarioRuns {
  /** Creates the sandboxes, and plays the scenarios in the background. Throws 409 without a simulator. */
  start(workspaceId: string, request: RunRequest): Promise<StartedRun>
  /** Cancels the runs of this process, and removes their sandboxes. */
  close(): Promise<void>
}

const renewEveryMs = 2000
const maxRunMs = 60 * 60_000

export const noSimulator =
  'This service has no simulator, on which scenarios run. Start one from a clone of the repository with ' +
  '`parley simulate`, and set PARLEY_SIMULATOR_URL to its address; or run `parley scenarios run` in a clone.'

export function createScenarioRuns(deps: ScenarioRunDeps): ScenarioRuns {
  const { db, clock, log } = deps
  const closing = new AbortController()
  const background = createBackgroundTasks()

  return {
    start: async (workspaceId, request) => {
      const { simulatorUrl } = deps
      if (simulatorUrl === null) throw conflict(noSimulator, { code: 'NO_SIMULATOR' })
      checkRequest(request.scenarios)
      const runId = newId(clock.now())
      const names = request.scenarios.map(({ name }) => name)
      const run = { id: runId, agent: request.agent, hasInstructions: request.instructions !== null, names }
      await db.tx((tx) => insertRun(tx, workspaceId, { ...run, actor: request.createdBy }, clock.now()))
      let groups: Group[]
      try {
        groups = await runAsService(() => prepareGroups(deps, simulatorUrl, request))
      } catch (error) {
        await endRun(db, workspaceId, runId, 'interrupted', clock.now())
        throw error
      }
      background.run(
        () => runAsService(() => play(deps, { workspaceId, runId, groups, request }, closing.signal)),
        (error) => log.error('scenario run failed', { workspaceId }, error),
      )
      const agents = groups.map(({ sandbox: { key, webhookSecret }, scenarios }) => ({
        ...{ key, webhookSecret },
        scenarios: scenarios.map(({ scenario }) => scenario.name),
      }))
      return { runId, agents }
    },
    close: async () => {
      closing.abort()
      await background.close()
    },
  }
}

interface PendingRun {
  workspaceId: string
  runId: string
  groups: Group[]
  request: RunRequest
}

/** Plays a run and stores its results, then removes its sandboxes. */
async function play(deps: ScenarioRunDeps, { workspaceId, runId, groups, request }: PendingRun, closing: AbortSignal) {
  const { db, clock, log } = deps
  const cancelling = new AbortController()
  const signal = AbortSignal.any([closing, cancelling.signal, AbortSignal.timeout(maxRunMs)])
  const renewing = repeatAfterPause(
    renewEveryMs,
    async () => {
      if (await renewRun(db, workspaceId, runId, clock.now())) cancelling.abort()
    },
    () => {},
  )
  try {
    const keyring = await deps.keyStore.keyring(workspaceId)
    const progress: Progress = {
      started: (position) => startResult(db, workspaceId, runId, position),
      ended: (position, outcome) => storeResult(db, keyring, { workspaceId, runId }, position, outcome),
    }
    await runGroups(deps, groups, request, progress, signal)
    await endRun(db, workspaceId, runId, 'finished', clock.now())
  } catch (error) {
    const isCancelled = cancelling.signal.aborted
    const isFailed = !signal.aborted
    // The scenarios that are still being played end, too.
    cancelling.abort()
    if (isFailed) log.error('scenario run failed', { workspaceId }, error)
    await endRun(db, workspaceId, runId, isCancelled ? 'cancelled' : 'interrupted', clock.now())
  } finally {
    await renewing.stop()
    await closeGroups(deps, groups)
  }
}

function checkRequest(scenarios: readonly Scenario[]): void {
  const names = scenarios.map(({ name }) => name)
  const twice = names.find((name, n) => names.indexOf(name) !== n)
  if (twice !== undefined) throw invalid('scenarios', `has two scenarios with the name ${twice}`)
  if (groupScenarios(scenarios).length > maxGroups) {
    throw invalid('scenarios', `needs more than ${maxGroups} sandboxes: scenarios with the same \`sandbox\` share one`)
  }
}
