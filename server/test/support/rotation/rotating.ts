import { keyedTables } from '../../../src/app/keyed-tables.ts'
import type { Clock } from '../../../src/base/clock.ts'
import type { Db } from '../../../src/base/db.ts'
import type { Vault } from '../../../src/base/sealing/vault.ts'
import type { Purpose, RotationDeps } from '../../../src/rotation/rotation.ts'
import { takeStep } from '../../../src/rotation/step.ts'
import { testTeamToken, type World } from '../world.ts'

export const rotationsPath = '/api/team/v1/key-rotations'

export const rotationDeps = (db: Db, vault: Vault, clock: Clock): RotationDeps => ({
  db,
  vault,
  clock,
  tables: keyedTables,
})

// biome-ignore lint/suspicious/noExplicitAny: as in Answer
export async function askRotation(w: World, body: { purpose: Purpose; workspaceId?: string | null }): Promise<any> {
  const answer = await w.call('POST', rotationsPath, { body, key: testTeamToken })
  if (answer.status !== 202) throw new Error(`Not begun: ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** Rotates the workspace's key from beginning to end, with nothing else going on. */
export async function rotate(w: World, purpose: Purpose): Promise<void> {
  await askRotation(w, { purpose, workspaceId: w.workspaceId })
  await drainRotations(w)
}

export async function drainRotations({ db, vault, clock }: World): Promise<void> {
  const deps = rotationDeps(db, vault, clock)
  for (let pause = 0; pause < 10; pause++) {
    while (await takeStep(deps));
    if ((await runningRotations(db)) === 0) return
    clock.advance(30_000)
  }
  throw new Error('The rotation does not end')
}

export async function runningRotations({ sql }: Db): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) as count
    from key_rotations
    where finished_at is null`
  return row?.count ?? 0
}

/** How many rows of the workspace are sealed or indexed under another version than this, by table. */
export async function oldRows({ sql }: Db, workspaceId: string, purpose: Purpose, version: number): Promise<string[]> {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(version)
  const found: string[] = []
  const tables = (purpose === 'data' ? keyedTables.sealed : keyedTables.indexed).filter(
    ({ keysOf }) => keysOf === 'workspace',
  )
  for (const each of tables) {
    const conditions =
      'places' in each
        ? Object.keys(each.places).map((column) => `(length(${column}) > 0 and substr(${column}, 2, 4) <> $2)`)
        : ['$2::bytea is not null and index_version <> $3']
    for (const condition of conditions) {
      const text = `select count(*) as count from ${each.table} where workspace_id = $1 and (${condition})`
      const values = condition.includes('$3') ? [workspaceId, bytes, version] : [workspaceId, bytes]
      const [row] = await sql.unsafe<{ count: number }[]>(text, values)
      if (row?.count !== 0) found.push(`${each.table}: ${row?.count} (${condition})`)
    }
  }
  return found
}
