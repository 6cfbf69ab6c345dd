import { Type } from 'typebox'
import { type App, oneOf } from '../base/route.ts'
import type { InboxDeps } from '../inbox/conversation/conversation.ts'
import { requireInbox } from '../inbox/team-api/present-conversation.ts'
import { recordAudit } from '../team/audit.ts'
import type { TeamGuard } from '../team/member.ts'
import { type TeamApi, teamApi } from '../team/team-api.ts'
import { closed, idSchema, workspaceParams } from '../team/team-schema.ts'
import { countRuns, listRuns, listRunsOfLead, type ShownRun, stopRun } from './read-runs.ts'
import {
  changeSequence,
  createSequence,
  deleteSequence,
  listSequences,
  requireSequence,
  type Sequence,
} from './sequence.ts'
import {
  limits,
  NewRuns,
  OneSequence,
  RunList,
  RunSchema,
  RunsStarted,
  runPage,
  SequenceChange,
  SequenceCounts,
  SequenceDraft,
  SequenceList,
} from './sequence-schema.ts'
import { startRuns } from './start-runs.ts'
import { findProblems } from './validate-sequence.ts'

type Deps = Pick<InboxDeps, 'db' | 'keyStore' | 'clock'>

const path = '/api/team/v1/workspaces/:workspaceId/sequences'
const runsPath = '/api/team/v1/workspaces/:workspaceId/sequence-runs'
const onePath = `${path}/:sequenceId`
const sequenceParams = Type.Object({ ...workspaceParams, sequenceId: idSchema('The sequence.') })

/** Routes for people: sequences, which admins manage, and what they do, which members start and stop. */
export function sequenceTeamRoutes(app: App, deps: Deps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Sequences')
  readRoutes(api, deps)
  manageRoutes(api, deps)
  runRoutes(api, deps)
}

async function present({ db }: Deps, workspaceId: string, sequences: readonly Sequence[]) {
  const problems = await findProblems(db.sql, workspaceId, sequences)
  return sequences.map(({ createdAt, updatedAt, ...sequence }, n) => ({
    ...sequence,
    problems: problems[n]?.slice(0, 100) ?? [],
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  }))
}

async function presentOne(deps: Deps, workspaceId: string, id: string) {
  const [sequence] = await present(deps, workspaceId, [await requireSequence(deps.db.sql, workspaceId, id)])
  if (sequence === undefined) throw new Error('A sequence was expected')
  return { sequence }
}

function readRoutes(api: TeamApi, deps: Deps): void {
  const { db } = deps
  api.get(path, 'member', {
    operationId: 'listSequences',
    summary: 'List sequences',
    description: `All, by name; at most ${limits.sequences}.`,
    answers: { 200: SequenceList },
    run: async ({ member: { workspaceId } }) => ({
      sequences: await present(deps, workspaceId, await listSequences(db.sql, workspaceId)),
    }),
  })
  api.get(onePath, 'member', {
    operationId: 'getSequence',
    summary: 'Get a sequence',
    description: 'With its steps.',
    params: sequenceParams,
    answers: { 200: OneSequence },
    run: ({ member, params }) => presentOne(deps, member.workspaceId, params.sequenceId.toLowerCase()),
  })
  api.get(`${onePath}/counts`, 'member', {
    operationId: 'countSequence',
    summary: 'Count what became of a sequence',
    description: 'For each step, and why runs ended, of those that began with its current steps.',
    params: sequenceParams,
    answers: { 200: Type.Object({ counts: SequenceCounts }) },
    run: async ({ member: { workspaceId }, params }) => {
      const sequence = await requireSequence(db.sql, workspaceId, params.sequenceId.toLowerCase())
      return { counts: { version: sequence.version, ...(await countRuns(db.sql, workspaceId, sequence)) } }
    },
  })
}

function manageRoutes(api: TeamApi, deps: Deps): void {
  api.post(path, 'admin', {
    operationId: 'createSequence',
    summary: 'Create a sequence',
    description: 'Switched off. For admins.',
    body: SequenceDraft,
    answers: { 201: OneSequence },
    errors: [409],
    run: async ({ member, body }) => presentOne(deps, member.workspaceId, await createSequence(deps, member, body)),
  })
  api.patch(onePath, 'admin', {
    operationId: 'updateSequence',
    summary: 'Change a sequence, or switch it on or off',
    description:
      'New steps are for leads that are added from now on: the others keep those with which they began. Switched off, it ends for all leads. It can be switched on while `problems` is empty. For admins.',
    params: sequenceParams,
    body: SequenceChange,
    answers: { 200: OneSequence },
    run: async ({ member, params, body }) => {
      const id = params.sequenceId.toLowerCase()
      await changeSequence(deps, member, id, body)
      return presentOne(deps, member.workspaceId, id)
    },
  })
  api.delete(onePath, 'admin', {
    operationId: 'deleteSequence',
    summary: 'Delete a sequence',
    description: 'It ends for all leads; what it has sent stays. For admins.',
    params: sequenceParams,
    run: ({ member, params }) => deleteSequence(deps, member, params.sequenceId.toLowerCase()),
  })
}

function runRoutes(api: TeamApi, deps: Deps): void {
  api.post(`${onePath}/runs`, 'member', {
    operationId: 'startSequence',
    summary: 'Add leads to a sequence',
    description:
      'Each lead is in a sequence once at a time. Every step is judged when it is due: consent, 24-hour window, connection, budget, and whether the customer has answered. 409 if it is off.',
    params: sequenceParams,
    body: NewRuns,
    answers: { 200: RunsStarted },
    errors: [409],
    run: ({ member, params, body }) => {
      requireInbox(member)
      const { workspaceId, actor } = member
      const sequenceId = params.sequenceId.toLowerCase()
      const leadIds = body.leadIds.map((id) => id.toLowerCase())
      return deps.db.tx(async (tx) => {
        const now = deps.clock.now()
        const done = await startRuns(tx, workspaceId, { sequenceId, leadIds, entry: 'person', actor }, now)
        const target = `sequence:${sequenceId} leads:${done.started.length}`
        if (done.started.length > 0)
          await recordAudit(tx, { scopeId: workspaceId, actor, action: 'sequence.started', target }, now)
        return done
      })
    },
  })
  api.get(`${onePath}/runs`, 'member', {
    operationId: 'listSequenceRuns',
    summary: 'List the leads of a sequence',
    description: `${runPage} a page, newest first, with what became of each step. Ended ones are kept for a year.`,
    params: sequenceParams,
    query: Type.Object(
      {
        state: Type.Optional(oneOf(['active', 'ended'] as const, { description: 'Only these.' })),
        before: Type.Optional(idSchema('`before` of a page.')),
      },
      closed,
    ),
    answers: { 200: RunList },
    run: async ({ member: { workspaceId }, params, query }) => {
      const { state = null, before = null } = query
      const { id: sequenceId } = await requireSequence(deps.db.sql, workspaceId, params.sequenceId.toLowerCase())
      const runs = await listRuns(deps, workspaceId, { sequenceId, state, before })
      return { runs: runs.map(presentRun), before: runs.length === runPage ? (runs.at(-1)?.id ?? null) : null }
    },
  })
  api.get(runsPath, 'member', {
    operationId: 'listSequencesOfLead',
    summary: 'List the sequences of a lead',
    description: 'The newest 20, with what became of each step.',
    query: Type.Object({ leadId: idSchema('The lead.') }, closed),
    answers: { 200: RunList },
    run: async ({ member: { workspaceId }, query }) => {
      const runs = await listRunsOfLead(deps, workspaceId, query.leadId.toLowerCase())
      return { runs: runs.map(presentRun), before: null }
    },
  })
  api.post(`${runsPath}/:runId/stop`, 'member', {
    operationId: 'stopSequence',
    summary: 'Stop a sequence for a lead',
    description: 'A message that is on its way is still sent. Repeating it changes nothing.',
    params: Type.Object({ ...workspaceParams, runId: idSchema('The run.') }),
    answers: { 200: Type.Object({ run: RunSchema }) },
    run: async ({ member, params }) => ({ run: presentRun(await stopRun(deps, member, params.runId.toLowerCase())) }),
  })
}

const presentRun = ({ sequenceId, sequenceName, leadId, leadName, ...run }: ShownRun) => ({
  ...{ id: run.id, state: run.state, reason: run.reason, step: run.step, steps: run.steps, heldBy: run.heldBy },
  ...{ conversationId: run.conversationId, entry: run.entry, isSending: run.messageId !== null },
  sequence: { id: sequenceId, name: sequenceName },
  lead: { id: leadId, name: leadName },
  dueAt: run.dueAt?.toISOString() ?? null,
  done: run.done.map(({ step, state, code, messageId, at }) => ({
    step,
    state,
    code,
    messageId,
    at: at.toISOString(),
  })),
  createdAt: run.createdAt.toISOString(),
  endedAt: run.endedAt?.toISOString() ?? null,
})
