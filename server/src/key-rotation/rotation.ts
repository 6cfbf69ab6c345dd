import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../base/clock.ts'
import { type Db, type Sql, setStatementTimeout, type Tx } from '../base/db.ts'
import type { KeyedTables, KeyStore } from '../base/encryption/key-store.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import { makeSecretCurrent, retireSecretsBefore } from '../base/encryption/secrets.ts'
import { type DueWatch, watchDueWork } from '../base/pubsub.ts'
import { recordAudit } from '../team/audit.ts'
import { countOld, type Purpose, rewriteBatch, type TableRewrite, tableRewritesOf } from './table-rewrite.ts'

/** The rotation of a secret in every row of a scope. Decision 013 explains the phases. */
export interface Rotation {
  id: string
  scope_id: string
  purpose: Purpose
  to_version: number
  phase: 'announced' | 'current' | 'rewriting'
  at_table: string | null
  at_key: string[] | null
}

export interface RotationDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
  tables: KeyedTables
}

/** Time after which every request uses the changed keys: they are reloaded every 10 s, and requests end within 15 s. */
export const noticeMs = 30_000

/** Shorter than the notice with which a rotation starts, so that no notification is needed. */
const pollEveryMs = 15_000

/** Watches for rotations with a step to run. */
export function watchRotations({ db, clock }: Pick<RotationDeps, 'db' | 'clock'>): DueWatch {
  const nextAt = async () => {
    const [row] = await db.sql<{ at: Date | null }[]>`
      select min(due_at) as at
      from key_rotations
      where finished_at is null`
    return row?.at ?? null
  }
  return watchDueWork({ db, clock }, { nextAt, pollEveryMs })
}

/** Locks the next due rotation; undefined if other workers have locked all. */
async function lockDueRotation(tx: Tx, now: Date): Promise<Rotation | undefined> {
  const [row] = await tx<Rotation[]>`
    select id, scope_id, purpose, to_version, phase, at_table, at_key
    from key_rotations
    where finished_at is null
      and due_at <= ${now}
    order by due_at
    limit 1
    for update skip locked`
  return row
}

export interface Progress {
  running: number
  finished: number
  rowsTotal: number
  rowsDone: number
  rewritingAt: Date | null
}

/** Returns the progress of the rotations that started at or after a time. */
export async function readProgress(sql: Sql, since: Date): Promise<Progress> {
  const [row] = await sql<Progress[]>`
    select
      count(*) filter (where finished_at is null) as running,
      count(*) filter (where finished_at is not null) as finished,
      coalesce(sum(rows_total), 0)::bigint as "rowsTotal",
      coalesce(sum(rows_done), 0)::bigint as "rowsDone",
      min(rewriting_at) as "rewritingAt"
    from key_rotations
    where started_at >= ${since}`
  return row ?? { running: 0, finished: 0, rowsTotal: 0, rowsDone: 0, rewritingAt: null }
}

/** Returns the start of the oldest unfinished rotation. */
export async function findOldestStart(sql: Sql): Promise<Date | null> {
  const [row] = await sql<{ started_at: Date | null }[]>`
    select min(started_at) as started_at
    from key_rotations
    where finished_at is null`
  return row?.started_at ?? null
}

const shiftMs = 2_000
/** Time between passes, so that holders of row locks can release them. */
const nextPassMs = 5_000

/** Runs steps for at most two seconds. Returns how many. Any number of nodes may run it concurrently. */
export async function runRotationSteps(deps: RotationDeps): Promise<number> {
  const endsAt = performance.now() + shiftMs
  let steps = 0
  for (;;) {
    const startedAt = performance.now()
    if (!(await runNextStep(deps))) return steps
    steps++
    if (performance.now() > endsAt) return steps
    // Uses at most half of the time, to leave capacity for requests.
    await sleep(performance.now() - startedAt)
  }
}

/** Runs the next step of the rotation that is due first, in one transaction. Returns false if none is due. */
export async function runNextStep(deps: RotationDeps): Promise<boolean> {
  return deps.db.tx(async (tx) => {
    const rotation = await lockDueRotation(tx, deps.clock.now())
    if (rotation === undefined) return false
    // Counting the rows of a large table takes long.
    await setStatementTimeout(tx, 15 * 60_000)
    if (rotation.phase === 'announced') await makeCurrent(tx, rotation, deps.clock.now())
    else if (rotation.phase === 'current') await startRewriting(deps, tx, rotation)
    else await rewriteNext(deps, tx, rotation)
    return true
  })
}

/** Makes the new secret current. By now every node has loaded it and can read values written with it. */
async function makeCurrent(tx: Tx, { id, ...rotation }: Rotation, now: Date): Promise<void> {
  await makeSecretCurrent(tx, secretRef(rotation))
  await tx`
    update key_rotations
    set phase = 'current',
      due_at = ${new Date(now.getTime() + noticeMs)}
    where id = ${id}`
}

/** Starts rewriting. By now every node writes with the new secret, so no new old rows appear. */
async function startRewriting(deps: RotationDeps, tx: Tx, rotation: Rotation): Promise<void> {
  const now = deps.clock.now()
  const { first, total } = await countOldRows(deps, tx, rotation)
  await tx`
    update key_rotations
    set phase = 'rewriting',
      rows_total = ${total},
      rewriting_at = ${now},
      at_table = ${first?.table ?? null}
    where id = ${rotation.id}`
}

async function rewriteNext(deps: RotationDeps, tx: Tx, rotation: Rotation): Promise<void> {
  const { scope_id: scopeId, purpose, at_key: atKey } = rotation
  const keyring = await currentKeyring(deps, tx, rotation)
  const rewritings = tableRewritesOf(deps.tables, purpose, scopeId)
  const at = rewritings.findIndex(({ table }) => table === rotation.at_table)
  const rewriting = rewritings[at]
  if (rewriting === undefined) return endPass(deps, tx, rotation)
  const batch = await rewriteBatch({ tx, keyring, scopeId, rewriting }, atKey)
  await tx`
    update key_rotations
    set rows_done = rows_done + ${batch.rewritten},
      rows_broken = rows_broken + ${batch.broken},
      at_table = ${batch.lastKey === null ? (rewritings[at + 1]?.table ?? null) : rewriting.table},
      at_key = ${batch.lastKey}
    where id = ${rotation.id}`
}

/** Starts another pass if old rows remain: rows that were locked, or restored meanwhile. */
async function endPass(deps: RotationDeps, tx: Tx, rotation: Rotation): Promise<void> {
  const { first, total } = await countOldRows(deps, tx, rotation)
  const [row] = await tx<{ rows_broken: number }[]>`
    select rows_broken
    from key_rotations
    where id = ${rotation.id}`
  const now = deps.clock.now()
  if (total <= (row?.rows_broken ?? 0)) return finish(tx, rotation, now)
  await tx`
    update key_rotations
    set rows_total = rows_done + ${total},
      rows_broken = 0,
      due_at = ${new Date(now.getTime() + nextPassMs)},
      at_table = ${first?.table ?? null}
    where id = ${rotation.id}`
}

async function finish(tx: Tx, { id, ...rotation }: Rotation, now: Date): Promise<void> {
  const { scope_id: scopeId, purpose, to_version: version } = rotation
  await retireSecretsBefore(tx, secretRef(rotation), now)
  await tx`
    update key_rotations
    set phase = 'done',
      finished_at = ${now}
    where id = ${id}`
  const actor = { type: 'system', id: null } as const
  await recordAudit(tx, { scopeId, actor, action: 'keys.rotation_ended', target: `${purpose}:${version}` }, now)
}

/** Returns the number of old rows, and the first table with any. */
async function countOldRows(deps: RotationDeps, tx: Tx, rotation: Rotation) {
  const keyring = await currentKeyring(deps, tx, rotation)
  let first: TableRewrite | undefined
  let total = 0
  for (const rewriting of tableRewritesOf(deps.tables, rotation.purpose, rotation.scope_id)) {
    const count = await countOld({ tx, keyring, scopeId: rotation.scope_id, rewriting })
    if (count > 0) first ??= rewriting
    total += count
  }
  return { first, total }
}

async function currentKeyring({ keyStore }: RotationDeps, tx: Tx, rotation: Rotation): Promise<Keyring> {
  const { scope_id: scopeId, purpose, to_version: version } = rotation
  const keyring = await keyStore.keyringIn(tx, scopeId)
  if (version === (purpose === 'data' ? keyring.dataVersion : keyring.indexVersion)) return keyring
  throw new Error(`The ${purpose} secret ${version} of scope ${scopeId} is not the current one`)
}

function secretRef({ scope_id: scopeId, purpose, to_version: version }: Omit<Rotation, 'id'>) {
  return { scopeId, purpose, version }
}
