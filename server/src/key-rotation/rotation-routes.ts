import { type Static, Type } from 'typebox'
import type { Clock } from '../base/clock.ts'
import type { Db, Tx } from '../base/db.ts'
import { instanceScope, type KeyStore } from '../base/encryption/key-store.ts'
import { replaceMasterKeyFile } from '../base/encryption/secrets.ts'
import { conflict, notFound } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { type App, nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { count, text, wholeNumber } from '../base/schema-types.ts'
import { parseIsoTime } from '../base/time.ts'
import { recordAudit } from '../team/audit.ts'
import type { TeamActor, TeamGuard } from '../team/member.ts'
import { teamApi } from '../team/team-api.ts'
import { closed, idSchema } from '../team/team-schema.ts'
import { findOldestStart, noticeMs, type Progress, type RotationDeps, readProgress } from './rotation.ts'
import { type Purpose, purposes } from './table-rewrite.ts'

interface MasterDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
  /** File of the master key; null if the key is in the settings. */
  masterKeyFile: string | null
  /** Called with a new key before it wraps anything, because other parts of this process use the key too. */
  masterKeyReplaced: (masterKey: Buffer) => void
  /** Whether other nodes with their own key files may use the same database. */
  sharesDatabase: boolean
}

interface MasterRotationResult {
  masterKeyId: string
  rewrapped: number
  /** File of the previous key; null if the keys are in the settings. */
  previousFile: string | null
}

/**
 * Wraps every secret with the current master key. If the key is in a file, replaces it by a new one first, unless an
 * earlier run was killed before completion, which is then continued.
 */
export async function rotateMasterKey(deps: MasterDeps, actor: TeamActor): Promise<MasterRotationResult> {
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
    'This node keeps its master key in its own file, but other nodes may use the same database. Set PARLEY_MASTER_KEY to the new key and PARLEY_PREVIOUS_MASTER_KEYS to the old one on every node, restart them, and run this again',
  )

/** Starts a rotation in every scope without a running one. Returns how many it started. */
async function startAllRotations(deps: RotationDeps, actor: TeamActor, purpose: Purpose): Promise<number> {
  const scopes = await deps.db.sql<{ id: string }[]>`
    select id
    from workspaces
    order by id`
  let started = 0
  for (const scopeId of [instanceScope, ...scopes.map(({ id }) => id)]) {
    if (await deps.db.tx((tx) => startRotation(deps, tx, actor, scopeId, purpose))) started++
  }
  return started
}

/** Starts a rotation in one workspace unless it is already running. Throws 409 if one of another purpose is running. */
async function startRotationIn(deps: RotationDeps, actor: TeamActor, workspaceId: string, purpose: Purpose) {
  return deps.db.tx(async (tx) => {
    if (await startRotation(deps, tx, actor, workspaceId, purpose)) return 1
    const [running] = await tx<{ purpose: Purpose }[]>`
      select purpose
      from key_rotations
      where scope_id = ${workspaceId}
        and finished_at is null`
    if (running === undefined || running.purpose === purpose) return 0
    throw otherIsRunning(running.purpose)
  })
}

async function startRotation(
  { keyStore, clock }: RotationDeps,
  tx: Tx,
  actor: TeamActor,
  scopeId: string,
  purpose: Purpose,
): Promise<boolean> {
  const now = clock.now()
  const [started] = await tx<{ to_version: number }[]>`
    insert into key_rotations (id, scope_id, purpose, to_version, phase, due_at, started_at)
    select ${newId(now)}, ${scopeId}, ${purpose}, max(s.version) + 1, 'announced',
      ${new Date(now.getTime() + noticeMs)}, ${now}
    from secrets s
    where s.scope_id = ${scopeId}
      and s.purpose = ${purpose}
    on conflict (scope_id) where finished_at is null do nothing
    returning to_version`
  if (started === undefined) return false
  await keyStore.addSecret(tx, { scopeId, purpose, version: started.to_version })
  const target = `${purpose}:${started.to_version}`
  await recordAudit(tx, { scopeId, actor, action: 'keys.rotation_began', target }, now)
  return true
}

const forOperators = 'For operators.'

/** Adds the routes for key rotation, used by `parley rotate-keys`. */
export function rotationTeamRoutes(app: App, deps: RotationDeps & MasterDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Key rotation')
  api.post('/api/team/v1/key-rotations', 'operator', {
    operationId: 'rotateKeys',
    summary: 'Rotate keys',
    description: `${forOperators} Starts rewriting all encrypted values (\`data\`) or all digests and search tokens (\`index\`) with a new key, in the background while the service is in use, also after a restart. Repeating the request does not restart running rotations. A workspace has one rotation at a time.`,
    body: Type.Object(
      {
        purpose: oneOf(purposes, { description: 'Keys to rotate.', example: 'index' }),
        workspaceId: Type.Optional(
          nullable(idSchema('The workspace. Omitted or null: all workspaces and the people of the installation.')),
        ),
      },
      closed,
    ),
    answers: { 202: progressSchema },
    errors: [404, 409],
    run: async ({ caller, body }) => {
      const { purpose, workspaceId } = body
      const { actor } = caller
      if (workspaceId === undefined || workspaceId === null) await startAllRotations(deps, actor, purpose)
      else await startRotationIn(deps, actor, await requireWorkspace(deps, workspaceId), purpose)
      return currentProgress(deps, null)
    },
  })
  api.get('/api/team/v1/key-rotations', 'operator', {
    operationId: 'getKeyRotation',
    summary: 'Get the progress of key rotations',
    description: `${forOperators} Returns the combined progress of the rotations.`,
    query: Type.Object({ since: Type.Optional(timestamp('`since` of an earlier response.')) }, closed),
    answers: { 200: progressSchema },
    run: ({ query }) => currentProgress(deps, parseIsoTime(query.since ?? '')),
  })
  api.post('/api/team/v1/master-key-rotations', 'operator', {
    operationId: 'rotateMasterKey',
    summary: 'Wrap all secrets with the current master key',
    description: `${forOperators} If the master key is in the settings, secrets wrapped by keys in \`PARLEY_PREVIOUS_MASTER_KEYS\` are wrapped with \`PARLEY_MASTER_KEY\`. If it is in the data folder, a new key is created first and the previous one is kept next to it. The response is sent after completion.`,
    answers: {
      200: Type.Object({
        masterKeyId: text(100, 'Id of the key that now wraps all secrets.', { example: '3f1c22ab' }),
        rewrapped: count('Number of secrets that were wrapped by another key.', { example: 12 }),
        previousFile: nullable(text(10_000, 'File of the previous key. Null if the keys are in the settings.')),
      }),
    },
    errors: [409],
    run: ({ caller }) => rotateMasterKey(deps, caller.actor),
  })
}

const progressSchema = titled('KeyRotationProgress', {
  since: timestamp(
    'Rotations that started at or after this time are counted. Send it with later requests to follow them to completion.',
  ),
  running: count('Workspaces (and the instance) with a running rotation.', { example: 3 }),
  finished: count('Workspaces (and the instance) with a finished rotation.', { example: 0 }),
  rowsTotal: wholeNumber('Rows to rewrite, as far as counted. Counting starts a minute after the rotation.', {
    example: 120_000,
  }),
  rowsDone: wholeNumber('Rows rewritten.', { example: 45_000 }),
  rowsPerSecond: nullable(wholeNumber('Rows rewritten per second; null before the first row.', { example: 2_500 })),
  secondsLeft: nullable(
    wholeNumber('Estimate of the remaining seconds at that rate; null while unknown.', { example: 30 }),
  ),
})

async function requireWorkspace({ db }: RotationDeps, id: string): Promise<string> {
  const [row] = await db.sql<{ id: string }[]>`
    select id
    from workspaces
    where id = ${id}`
  if (row === undefined) throw notFound('Workspace not found')
  return row.id
}

async function currentProgress(
  { db, clock }: RotationDeps,
  requestedSince: Date | null,
): Promise<Static<typeof progressSchema>> {
  const since = requestedSince ?? (await findOldestStart(db.sql)) ?? clock.now()
  return presentProgress(clock, since, await readProgress(db.sql, since))
}

function presentProgress(clock: Clock, since: Date, progress: Progress): Static<typeof progressSchema> {
  const { rewritingAt: from, ...counts } = progress
  const { rowsTotal, rowsDone } = counts
  const seconds = from === null ? 0 : (clock.now().getTime() - from.getTime()) / 1000
  const rate = seconds > 0 && rowsDone > 0 ? rowsDone / seconds : null
  return {
    since: since.toISOString(),
    ...counts,
    rowsPerSecond: rate === null ? null : Math.round(rate),
    secondsLeft: rate === null ? null : Math.ceil(Math.max(0, rowsTotal - rowsDone) / rate),
  }
}

const otherIsRunning = (purpose: Purpose) =>
  conflict(`A rotation of the ${purpose} key is running in this workspace. Start this one after it has finished`, {
    field: 'purpose',
  })
