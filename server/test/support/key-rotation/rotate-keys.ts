import { keyedTables } from '../../../src/app/tables.ts'
import type { Clock } from '../../../src/base/clock.ts'
import type { Db } from '../../../src/base/db.ts'
import type { KeyStore } from '../../../src/base/encryption/key-store.ts'
import { type RotationDeps, runNextStep } from '../../../src/key-rotation/rotation.ts'
import type { Purpose } from '../../../src/key-rotation/table-rewrite.ts'
import { type Answer, testTeamToken, type World } from '../world.ts'

export const rotationsPath = '/api/team/v1/key-rotations'

export const rotationDeps = (db: Db, keyStore: KeyStore, clock: Clock): RotationDeps => ({
  db,
  keyStore,
  clock,
  tables: keyedTables,
})

type RotationRequest = { purpose: Purpose; workspaceId?: string | null }

export async function requestRotation(w: World, body: RotationRequest): Promise<Answer['body']> {
  const answer = await w.call('POST', rotationsPath, { body, key: testTeamToken })
  if (answer.status !== 202) throw new Error(`Rotation not started: ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** Rotates the workspace's key completely, without concurrent work. */
export async function rotate(w: World, purpose: Purpose): Promise<void> {
  await requestRotation(w, { purpose, workspaceId: w.workspaceId })
  await drainRotations(w)
}

export async function drainRotations({ db, keyStore, clock }: World): Promise<void> {
  const deps = rotationDeps(db, keyStore, clock)
  for (let pause = 0; pause < 10; pause++) {
    while (await runNextStep(deps));
    if ((await runningRotations(db)) === 0) return
    clock.advance(30_000)
  }
  throw new Error('The rotation did not end')
}

export const runningRotations = async ({ sql }: Db): Promise<number> =>
  (await sql`select from key_rotations where finished_at is null`).length

/** Returns, by table, the number of rows encrypted or indexed under a version other than this. */
export async function oldRows({ sql }: Db, workspaceId: string, purpose: Purpose, version: number): Promise<string[]> {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(version)
  const isOld = (column: string) =>
    `(length(${column}) > 0 and substr(${column}, 2, 4) <> '\\x${bytes.toString('hex')}')`
  const { encrypted, indexed } = keyedTables
  const conditions: [table: string, condition: string][] =
    purpose === 'data'
      ? encrypted
          .filter(({ keyScope }) => keyScope === 'workspace')
          .flatMap(({ table, locations }) =>
            Object.keys(locations).map((column): [string, string] => [table, isOld(column)]),
          )
      : indexed
          .filter(({ keyScope }) => keyScope === 'workspace')
          .map(({ table }) => [table, `index_version <> ${version}`])
  const found: string[] = []
  for (const [table, condition] of conditions) {
    const rows = await sql.unsafe(`select from ${table} where workspace_id = $1 and ${condition}`, [workspaceId])
    if (rows.length > 0) found.push(`${table}: ${rows.length} (${condition})`)
  }
  return found
}
