import type { Tx } from '../base/db.ts'
import { conflict } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { instanceScope } from '../base/sealing/vault.ts'
import { recordAudit } from '../team/audit.ts'
import type { TeamActor } from '../team/member.ts'
import { noticeMs, type Purpose, type RotationDeps } from './rotation.ts'

/** Begins a rotation in every scope that has none on its way; returns how many it began. */
export async function beginEverywhere(deps: RotationDeps, actor: TeamActor, purpose: Purpose): Promise<number> {
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
export async function beginIn(
  deps: RotationDeps,
  actor: TeamActor,
  workspaceId: string,
  purpose: Purpose,
): Promise<number> {
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
  { vault, clock }: RotationDeps,
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
  await vault.addSecret(tx, { scopeId, purpose, version: begun.to_version })
  await recordAudit(
    tx,
    { scopeId, actor, action: 'keys.rotation_began', target: `${purpose}:${begun.to_version}` },
    now,
  )
  return true
}

const otherIsRunning = (purpose: Purpose) =>
  conflict(`A rotation of the ${purpose} key is running in this workspace: start this one when it has ended`, {
    field: 'purpose',
  })
