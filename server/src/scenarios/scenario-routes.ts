import { Type } from 'typebox'
import type { Tx } from '../base/db.ts'
import { InvalidInput, invalid } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import type { App } from '../base/route.ts'
import { recordAudit } from '../team/audit.ts'
import type { Member, TeamGuard } from '../team/member.ts'
import { type TeamApi, teamApi } from '../team/team-api.ts'
import { idSchema, workspaceParams } from '../team/team-schema.ts'
import { readState } from './run/sandbox-state.ts'
import type { ScenarioRuns as Runs, ScenarioRunDeps } from './run/start-run.ts'
import { compareOutcomes } from './scenario/compare-runs.ts'
import { type ConversationSource, makeScenario } from './scenario/from-conversation.ts'
import { parseScenario } from './scenario/parse-scenario.ts'
import { publishedSchema, type Scenario } from './scenario/scenario-schema.ts'
import {
  NewRunBody,
  NewScenario,
  RunDetail,
  runParams,
  ScenarioChange,
  ScenarioItem,
  ScenarioList,
  ScenarioRuns,
  StartedRunAnswer,
  scenarioParams,
  scenarioText,
} from './scenario-schemas.ts'
import { readStarterSet } from './starter-set.ts'
import {
  listLastVerdicts,
  listResults,
  listResultsBefore,
  listRuns,
  type RunRow,
  requestCancel,
  requireRun,
  type StoredResult,
} from './store/runs.ts'
import {
  deleteScenario,
  insertScenario,
  listScenarios,
  type StoredScenario,
  scenarioNotFound,
  updateScenario,
} from './store/scenarios.ts'

interface Deps extends ScenarioRunDeps {
  publicUrl: string
}

const path = '/api/team/v1/workspaces/:workspaceId'
const oneScenario = Type.Object({ scenario: ScenarioItem })

/** Adds the routes for scenarios and their runs. */
export function scenarioTeamRoutes(app: App, deps: Deps, runs: Runs, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Scenarios')
  readRoutes(api, deps)
  conversationRoute(api, deps)
  writeRoutes(api, deps)
  starterSetRoute(api, deps)
  runRoutes(api, deps)
  startRoutes(api, deps, runs)
}

function readRoutes(api: TeamApi, deps: Deps): void {
  const { db, keyStore } = deps
  api.get(`${path}/scenarios`, 'member', {
    operationId: 'listScenarios',
    summary: 'List scenarios',
    description: 'Scripts of customers that agents are tried with, by name, with the verdict of the newest run.',
    answers: { 200: ScenarioList },
    run: async ({ member: { workspaceId } }) => {
      const keyring = await keyStore.keyring(workspaceId)
      const [scenarios, verdicts] = await Promise.all([
        listScenarios(db.sql, keyring, workspaceId),
        listLastVerdicts(db.sql, workspaceId),
      ])
      return {
        scenarios: scenarios.map((one) => presentScenario(one, verdicts)),
        hasSimulator: deps.simulatorUrl !== null,
        hasJudge: deps.judge !== null,
        publicUrl: deps.publicUrl,
        scenarioSchema: publishedSchema(),
      }
    },
  })
}

/** Adds the route that turns a conversation into the text of a scenario. Nothing is stored. */
function conversationRoute(api: TeamApi, deps: Deps): void {
  api.get(`${path}/scenarios/from-conversation/:conversationId`, 'admin', {
    operationId: 'makeScenario',
    summary: 'Make a scenario of a conversation',
    description:
      'For admins. Returns the text of a scenario that plays it: names, numbers, e-mail and web addresses and streets are replaced by invented ones, and files by samples. Read it before you save it: no pattern finds everything.',
    params: Type.Object({ ...workspaceParams, conversationId: idSchema('The conversation.') }),
    answers: { 200: Type.Object({ text: scenarioText }) },
    run: async ({ member: { workspaceId }, params }) => {
      const id = params.conversationId.toLowerCase()
      const place = `/workspaces/${workspaceId}`
      const state = await readState(deps.call, place, id)
      const { lead, conversation } = await deps.call<{
        lead: { id: string } | null
        conversation: { profileName: string | null; contact: { name: string | null } }
      }>('GET', `${place}/inbox/conversations/${id}`)
      const known =
        lead === null
          ? null
          : await deps.call<{ lead: NonNullable<ConversationSource['lead']> }>('GET', `${place}/leads/${lead.id}`)
      const authors = state.items.map(({ message, note }) => (message?.author ?? note?.actor)?.name ?? null)
      const names = [conversation.profileName, conversation.contact.name, ...new Set(authors)]
      const scenario = makeScenario({ ...state, lead: known?.lead ?? null, names }, `conversation-${id.slice(-6)}`)
      return { text: `${JSON.stringify(scenario, null, 2)}\n` }
    },
  })
}

function presentScenario(
  { id, name, text, version, updatedAt }: StoredScenario,
  verdicts: ReadonlyMap<string, StoredResult['verdict']>,
) {
  const { title, tags = [] } = JSON.parse(text) as Scenario
  const lastVerdict = verdicts.get(name) ?? null
  return { id, name, title, tags, text, version, lastVerdict, updatedAt: updatedAt.toISOString() }
}

function writeRoutes(api: TeamApi, deps: Deps): void {
  const { db, keyStore, clock } = deps
  const present = async (workspaceId: string, id: string) => {
    const keyring = await keyStore.keyring(workspaceId)
    const [one] = await listScenarios(db.sql, keyring, workspaceId, [id])
    if (one === undefined) throw scenarioNotFound()
    return { scenario: presentScenario(one, await listLastVerdicts(db.sql, workspaceId)) }
  }
  api.post(`${path}/scenarios`, 'admin', {
    operationId: 'createScenario',
    summary: 'Create a scenario',
    description: 'For admins. 400 names the field of the text that is wrong.',
    body: NewScenario,
    answers: { 201: oneScenario },
    errors: [409],
    run: async ({ member, body: { text } }) => {
      const { workspaceId } = member
      const { name } = parseScenario(text, 'text')
      const keyring = await keyStore.keyring(workspaceId)
      const id = newId(clock.now())
      await db.tx(async (tx) => {
        await insertScenario(tx, keyring, workspaceId, { id, name, text }, clock.now())
        await audit(tx, member, 'scenario.created', `scenario:${id}`, clock.now())
      })
      return present(workspaceId, id)
    },
  })
  api.put(`${path}/scenarios/:scenarioId`, 'admin', {
    operationId: 'updateScenario',
    summary: 'Change a scenario',
    description: 'For admins. 409 if someone else has changed it since `version`.',
    params: scenarioParams,
    body: ScenarioChange,
    answers: { 200: oneScenario },
    errors: [409],
    run: async ({ member, params, body: { text, version } }) => {
      const { workspaceId } = member
      const { name } = parseScenario(text, 'text')
      const keyring = await keyStore.keyring(workspaceId)
      const id = params.scenarioId.toLowerCase()
      await db.tx(async (tx) => {
        await updateScenario(tx, keyring, workspaceId, { id, name, text, version }, clock.now())
        await audit(tx, member, 'scenario.changed', `scenario:${id}`, clock.now())
      })
      return present(workspaceId, id)
    },
  })
  api.delete(`${path}/scenarios/:scenarioId`, 'admin', {
    operationId: 'deleteScenario',
    summary: 'Delete a scenario',
    description: 'For admins. Results of its runs remain.',
    params: scenarioParams,
    run: async ({ member, params }) => {
      await db.tx(async (tx) => {
        await deleteScenario(tx, member.workspaceId, params.scenarioId.toLowerCase())
        await audit(tx, member, 'scenario.deleted', `scenario:${params.scenarioId.toLowerCase()}`, clock.now())
      })
    },
  })
}

function starterSetRoute(api: TeamApi, { db, keyStore, clock }: Deps): void {
  api.post(`${path}/scenarios/starter-set`, 'admin', {
    operationId: 'addStarterScenarios',
    summary: 'Add the starter set',
    description: 'For admins. Adds the scenarios that come with the service, except those whose names exist.',
    answers: { 200: Type.Object({ added: Type.Integer({ minimum: 0, maximum: 1000 }) }) },
    errors: [409],
    run: async ({ member }) => {
      const { workspaceId } = member
      const keyring = await keyStore.keyring(workspaceId)
      const starter = readStarterSet()
      const added = await db.tx(async (tx) => {
        const known = new Set((await listScenarios(tx, keyring, workspaceId)).map(({ name }) => name))
        const missing = starter.filter(({ scenario }) => !known.has(scenario.name))
        for (const { scenario, text } of missing) {
          const id = newId(clock.now())
          await insertScenario(tx, keyring, workspaceId, { id, name: scenario.name, text }, clock.now())
        }
        await audit(tx, member, 'scenario.starter-set-added', `workspace:${workspaceId}`, clock.now())
        return missing.length
      })
      return { added }
    },
  })
}

function runRoutes(api: TeamApi, { db, keyStore }: Deps): void {
  api.get(`${path}/scenario-runs`, 'member', {
    operationId: 'listScenarioRuns',
    summary: 'List the runs of scenarios',
    description: 'The newest 50, newest first.',
    answers: { 200: ScenarioRuns },
    run: async ({ member }) => ({ runs: (await listRuns(db.sql, member.workspaceId)).map(presentRun) }),
  })
  api.get(`${path}/scenario-runs/:runId`, 'member', {
    operationId: 'getScenarioRun',
    summary: 'Get a run of scenarios',
    description: 'With the results so far, each compared with the run before of the same agent.',
    params: runParams,
    answers: { 200: RunDetail },
    run: async ({ member: { workspaceId }, params }) => {
      const keyring = await keyStore.keyring(workspaceId)
      const run = await requireRun(db.sql, workspaceId, params.runId.toLowerCase())
      const results = await listResults(db.sql, keyring, workspaceId, run.id)
      const names = results.map(({ name }) => name)
      const before = await listResultsBefore(db.sql, keyring, workspaceId, run, names)
      return { run: presentRun(run), results: results.map((one) => presentResult(one, before)) }
    },
  })
}

function startRoutes(api: TeamApi, deps: Deps, runs: Runs): void {
  const { db, clock } = deps
  api.post(`${path}/scenario-runs`, 'admin', {
    operationId: 'startScenarioRun',
    summary: 'Run scenarios',
    description:
      'For admins. Creates sandboxes on the simulator, in which no message can leave, and returns a key for each. The run begins when the agent has called with it. 409 `NO_SIMULATOR` if the service has none.',
    body: NewRunBody,
    answers: { 201: StartedRunAnswer },
    errors: [409, 503],
    run: async ({ member, body }) => {
      const { workspaceId, actor } = member
      const scenarios = await scenariosOf(deps, workspaceId, body)
      const started = await runs.start(workspaceId, {
        ...{ scenarios, agent: body.agent.trim(), createdBy: actor },
        instructions: body.instructions ?? null,
        webhookUrl: body.webhookUrl ?? null,
        pace: { speed: body.speed ?? 1, answerSeconds: body.answerSeconds ?? 30 },
        parallel: body.parallel ?? 5,
        connectWithinSeconds: body.connectSeconds ?? 600,
      })
      await db.tx((tx) => audit(tx, member, 'scenario.run-started', `scenario_run:${started.runId}`, clock.now()))
      return started
    },
  })
  api.post(`${path}/scenario-runs/:runId/cancel`, 'admin', {
    operationId: 'cancelScenarioRun',
    summary: 'Cancel a run of scenarios',
    description: 'For admins. Scenarios that are not finished are skipped. Does nothing to a run that has ended.',
    params: runParams,
    run: async ({ member, params }) => {
      await db.tx(async (tx) => {
        await requestCancel(tx, member.workspaceId, params.runId.toLowerCase())
        await audit(tx, member, 'scenario.run-cancelled', `scenario_run:${params.runId.toLowerCase()}`, clock.now())
      })
    },
  })
}

async function scenariosOf(deps: Deps, workspaceId: string, body: NewRunBody): Promise<Scenario[]> {
  const { scenarioIds, scenarios } = body
  if ((scenarioIds === undefined) === (scenarios === undefined)) {
    throw invalid('scenarioIds', 'or scenarios is required: send exactly one of them')
  }
  if (scenarios !== undefined) return scenarios.map((text, n) => parseScenario(text, `scenarios[${n}]`))
  const ids = (scenarioIds ?? []).map((id) => id.toLowerCase())
  const stored = await listScenarios(deps.db.sql, await deps.keyStore.keyring(workspaceId), workspaceId, ids)
  const known = new Set(stored.map(({ id }) => id))
  const unknown = ids.map((id) => known.has(id)).indexOf(false)
  if (unknown !== -1) throw new InvalidInput([{ path: `scenarioIds[${unknown}]`, message: 'is not a scenario' }])
  return stored.map(({ text }) => parseScenario(text))
}

const presentRun = ({ createdAt, finishedAt, ...run }: RunRow) => ({
  ...run,
  createdAt: createdAt.toISOString(),
  finishedAt: finishedAt?.toISOString() ?? null,
})

function presentResult(result: StoredResult, before: Awaited<ReturnType<typeof listResultsBefore>>) {
  const { position: _, ...shown } = result
  const { name, verdict } = shown
  if (verdict !== 'passed' && verdict !== 'failed' && verdict !== 'error') return { ...shown, difference: null }
  const former = before.find((one) => one.name === name) ?? null
  return { ...shown, difference: compareOutcomes(former, { ...shown, verdict }) }
}

const audit = (tx: Tx, { workspaceId: scopeId, actor }: Member, action: string, target: string, now: Date) =>
  recordAudit(tx, { scopeId, actor, action, target }, now)
