import { type Static, Type } from 'typebox'
import type { Clock } from '../base/clock.ts'
import type { Db, Tx } from '../base/db.ts'
import { instanceScope, type KeyStore } from '../base/encryption/key-store.ts'
import { replaceMasterKeyFile } from '../base/encryption/secrets.ts'
import { conflict, notFound } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { type App, nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { count, text, wholeNumber } from '../base/schema-types.ts'
import { readIsoTime } from '../base/time.ts'
import { recordAudit } from '../team/audit.ts'
import type { TeamActor, TeamGuard } from '../team/member.ts'
import { teamApi } from '../team/team-api.ts'
import { closed, idSchema } from '../team/team-schema.ts'
import { type Purpose, purposes } from './rewriting.ts'
import { findOldestStart, noticeMs, type Progress, type RotationDeps, readProgress } from './rotation.ts'

interface MasterDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
  /** Where this installation keeps its master key, if it does; null when the settings give it. */
  masterKeyFile: string | null
  /** Told of a new key before it wraps anything: others of this process hold keys too. */
  masterKeyReplaced: (masterKey: Buffer) => void
  /** Whether other nodes, with key files of their own, may use the same database. */
  sharesDatabase: boolean
}

interface MasterRotated {
  masterKeyId: string
  rewrapped: number
  /** The file that the key before is kept in; null when the settings give the keys. */
  previousFile: string | null
}

/**
 * Wraps every secret with the current master key. A key that is kept in a file is replaced by a new one first, unless
 * an earlier run was killed before it was through: then that one is gone on with.
 */
export async function rotateMasterKey(deps: MasterDeps, actor: TeamActor): Promise<MasterRotated> {
  const { db, keyStore, masterKeyFile: path } = deps
  let previousFile: string | null = null
  if (path !== null && !(await hasOldSecrets(deps))) {
    if (deps.sharesDatabase) throw fileIsNotShared()
    const replaced = replaceMasterKeyFile(path)
    previousFile = replaced.previousFile
    keyStore.useMasterKey(replaced.masterKey)
    deps.masterKeyReplaced(replaced.masterKey)
  }
  const rewrapped = await keyStore.rewrapSecrets()
  const masterKeyId = keyStore.masterKeyId()
  const entry = { scopeId: instanceScope, actor, action: 'keys.master_rotated', target: `master:${masterKeyId}` }
  await db.tx((tx) => recordAudit(tx, entry, deps.clock.now()))
  return { masterKeyId, rewrapped, previousFile }
}

async function hasOldSecrets({ db, keyStore }: MasterDeps): Promise<boolean> {
  const rows = await db.sql`
    select 1
    from secrets
    where master_key_id <> ${keyStore.masterKeyId()}
    limit 1`
  return rows.length > 0
}

const fileIsNotShared = () =>
  conflict(
    'This node keeps its master key in a file of its own, and others may use the same database: give every node the new key as PARLEY_MASTER_KEY and the old one in PARLEY_PREVIOUS_MASTER_KEYS, restart them, and run this again',
  )

/** Begins a rotation in every scope that has none on its way; returns how many it began. */
async function beginEverywhere(deps: RotationDeps, actor: TeamActor, purpose: Purpose): Promise<number> {
  const scopes = await deps.db.sql<{ id: string }[]>`
    select id
    from workspaces
    order by id`
  let begun = 0
  for (const scopeId of [instanceScope, ...scopes.map(({ id }) => id)]) {
    if (await deps.db.tx((tx) => begin(deps, tx, actor, scopeId, purpose))) begun++
  }
  return begun
}

/** Begins a rotation in one workspace unless it is on its way. While one of another purpose is, that is a 409. */
async function beginIn(deps: RotationDeps, actor: TeamActor, workspaceId: string, purpose: Purpose): Promise<number> {
  return deps.db.tx(async (tx) => {
    if (await begin(deps, tx, actor, workspaceId, purpose)) return 1
    const [running] = await tx<{ purpose: Purpose }[]>`
      select purpose
      from key_rotations
      where scope_id = ${workspaceId}
        and finished_at is null`
    if (running !== undefined && running.purpose !== purpose) throw otherIsRunning(running.purpose)
    return 0
  })
}

async function begin(
  { keyStore, clock }: RotationDeps,
  tx: Tx,
  actor: TeamActor,
  scopeId: string,
  purpose: Purpose,
): Promise<boolean> {
  const now = clock.now()
  const [begun] = await tx<{ to_version: number }[]>`
    insert into key_rotations (id, scope_id, purpose, to_version, phase, due_at, started_at)
    select ${newId(now)}, ${scopeId}, ${purpose}, max(s.version) + 1, 'announced',
      ${new Date(now.getTime() + noticeMs)}, ${now}
    from secrets s
    where s.scope_id = ${scopeId}
      and s.purpose = ${purpose}
    on conflict (scope_id) where finished_at is null do nothing
    returning to_version`
  if (begun === undefined) return false
  await keyStore.addSecret(tx, { scopeId, purpose, version: begun.to_version })
  const target = `${purpose}:${begun.to_version}`
  await recordAudit(tx, { scopeId, actor, action: 'keys.rotation_began', target }, now)
  return true
}

const otherIsRunning = (purpose: Purpose) =>
  conflict(`A rotation of the ${purpose} key is running in this workspace: start this one when it has ended`, {
    field: 'purpose',
  })

const forOperators = 'For operators.'

/** How keys are changed for new ones: by `parley rotate-keys`, or by a program that does what it does. */
export function rotationTeamRoutes(app: App, deps: RotationDeps & MasterDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Key rotation')
  api.post('/api/team/v1/key-rotations', 'operator', {
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
    answers: { 202: progressSchema },
    errors: [404, 409],
    run: async ({ caller, body }) => {
      const { purpose, workspaceId } = body
      const { actor } = caller
      if (workspaceId === undefined || workspaceId === null) await beginEverywhere(deps, actor, purpose)
      else await beginIn(deps, actor, await knownWorkspace(deps, workspaceId), purpose)
      return currentProgress(deps, null)
    },
  })
  api.get('/api/team/v1/key-rotations', 'operator', {
    operationId: 'getKeyRotation',
    summary: 'Follow the rotation of keys',
    description: `${forOperators} How far the rotations are, together.`,
    query: Type.Object({ since: Type.Optional(timestamp('As an earlier answer gave it.')) }, closed),
    answers: { 200: progressSchema },
    run: ({ query }) => currentProgress(deps, readIsoTime(query.since ?? '')),
  })
  api.post('/api/team/v1/master-key-rotations', 'operator', {
    operationId: 'rotateMasterKey',
    summary: 'Wrap all secrets with the current master key',
    description: `${forOperators} When the settings give the master key, it is wrapped with \`PARLEY_MASTER_KEY\` what keys of \`PARLEY_PREVIOUS_MASTER_KEYS\` have wrapped. When the key is kept in the data folder, a new one is made first and the one before stays beside it. Done when it answers.`,
    answers: {
      200: Type.Object({
        masterKeyId: text(100, 'The key that wraps all secrets now.', { example: '3f1c22ab' }),
        rewrapped: count('Secrets that another key had wrapped.', { example: 12 }),
        previousFile: nullable(text(10_000, 'Where the key before is kept. Null when the settings give the keys.')),
      }),
    },
    errors: [409],
    run: ({ caller }) => rotateMasterKey(deps, caller.actor),
  })
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
