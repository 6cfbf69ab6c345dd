import { type Static, Type } from 'typebox'
import type { Clock } from '../base/clock.ts'
import { notFound } from '../base/errors.ts'
import { type App, errors, nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { count, text, wholeNumber } from '../base/schema-types.ts'
import { readIsoTime } from '../base/time.ts'
import { type TeamGuard, teamCallerOf } from '../team/member.ts'
import { closed, idSchema, teamRoute } from '../team/team-schema.ts'
import { beginEverywhere, beginIn } from './begin.ts'
import { type MasterDeps, rotateMasterKey } from './master.ts'
import { findOldestStart, type Progress, purposes, type RotationDeps, readProgress } from './rotation.ts'

const forOperators = 'For operators.'

/** How keys are changed for new ones: by `parley rotate-keys`, or by a program that does what it does. */
export function rotationTeamRoutes(app: App, deps: RotationDeps & MasterDeps, guard: TeamGuard): void {
  beginRoute(app, deps, guard)
  progressRoute(app, deps, guard)
  masterRoute(app, deps, guard)
}

const progressSchema = titled('KeyRotationProgress', {
  since: timestamp('Rotations that began then or later are counted; give it to follow them to their end.'),
  running: count('Workspaces (and the instance) whose rotation is not finished.', { example: 3 }),
  finished: count('Those whose rotation is finished.', { example: 0 }),
  rowsTotal: wholeNumber('Rows to write anew, as far as they are counted: counting begins a minute after the start.', {
    example: 120_000,
  }),
  rowsDone: wholeNumber('Rows written anew.', { example: 45_000 }),
  rowsPerSecond: nullable(wholeNumber('Null before the first row is written.', { example: 2_500 })),
  secondsLeft: nullable(wholeNumber('An estimate by that rate. Null while nothing is known.', { example: 30 })),
})

function beginRoute(app: App, deps: RotationDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: '/api/team/v1/key-rotations',
    onRequest: guard.operator(),
    schema: {
      ...teamRoute('Key rotation'),
      operationId: 'rotateKeys',
      summary: 'Rotate keys',
      description: `${forOperators} Begins to bring every sealed value (\`data\`) or every digest and search token (\`index\`) under a new key, while the service is used. The service does the work by itself and goes on after a restart. What is running already is left to run: asking again is harmless. A workspace has one rotation at a time.`,
      body: Type.Object(
        {
          purpose: oneOf(purposes, { description: 'Which key.', example: 'index' }),
          workspaceId: Type.Optional(
            nullable(idSchema('The workspace; all of them and the people of the installation when left out or null.')),
          ),
        },
        closed,
      ),
      response: { 202: progressSchema, ...errors(400, 401, 403, 404, 409, 413, 415) },
    },
    handler: async (request, reply) => {
      const { purpose, workspaceId } = request.body
      const { actor } = teamCallerOf(request)
      if (workspaceId === undefined || workspaceId === null) await beginEverywhere(deps, actor, purpose)
      else await beginIn(deps, actor, await knownWorkspace(deps, workspaceId), purpose)
      return reply.code(202).send(await currentProgress(deps, null))
    },
  })
}

function progressRoute(app: App, deps: RotationDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: '/api/team/v1/key-rotations',
    onRequest: guard.operator(),
    schema: {
      ...teamRoute('Key rotation'),
      operationId: 'getKeyRotation',
      summary: 'Follow the rotation of keys',
      description: `${forOperators} How far the rotations are, together.`,
      querystring: Type.Object({ since: Type.Optional(timestamp('As an earlier answer gave it.')) }, closed),
      response: { 200: progressSchema, ...errors(400, 401, 403) },
    },
    handler: async (request) => currentProgress(deps, readIsoTime(request.query.since ?? '')),
  })
}

function masterRoute(app: App, deps: MasterDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: '/api/team/v1/master-key-rotations',
    onRequest: guard.operator(),
    schema: {
      ...teamRoute('Key rotation'),
      operationId: 'rotateMasterKey',
      summary: 'Wrap all secrets with the current master key',
      description: `${forOperators} When the settings give the master key, it is wrapped with \`PARLEY_MASTER_KEY\` what keys of \`PARLEY_PREVIOUS_MASTER_KEYS\` have wrapped. When the key is kept in the data folder, a new one is made first and the one before stays beside it. Done when it answers.`,
      response: {
        200: Type.Object({
          masterKeyId: text(100, 'The key that wraps all secrets now.', { example: '3f1c22ab' }),
          rewrapped: count('Secrets that another key had wrapped.', { example: 12 }),
          previousFile: nullable(text(10_000, 'Where the key before is kept. Null when the settings give the keys.')),
        }),
        ...errors(400, 401, 403, 409),
      },
    },
    handler: (request) => rotateMasterKey(deps, teamCallerOf(request).actor),
  })
}

async function knownWorkspace({ db }: RotationDeps, id: string): Promise<string> {
  const [row] = await db.sql<{ id: string }[]>`
    select id
    from workspaces
    where id = ${id}`
  if (row === undefined) throw notFound('There is no such workspace')
  return row.id
}

async function currentProgress(
  { db, clock }: RotationDeps,
  asked: Date | null,
): Promise<Static<typeof progressSchema>> {
  const since = asked ?? (await findOldestStart(db.sql)) ?? clock.now()
  return presentProgress(clock, since, await readProgress(db.sql, since))
}

function presentProgress(clock: Clock, since: Date, progress: Progress): Static<typeof progressSchema> {
  const { rows_total: rowsTotal, rows_done: rowsDone, rewriting_at: from } = progress
  const seconds = from === null ? 0 : (clock.now().getTime() - from.getTime()) / 1000
  const rate = seconds > 0 && rowsDone > 0 ? rowsDone / seconds : null
  return {
    since: since.toISOString(),
    running: progress.running,
    finished: progress.finished,
    rowsTotal,
    rowsDone,
    rowsPerSecond: rate === null ? null : Math.round(rate),
    secondsLeft: rate === null ? null : Math.ceil(Math.max(0, rowsTotal - rowsDone) / rate),
  }
}
