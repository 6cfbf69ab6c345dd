import type { Clock } from '../base/clock.ts'
import type { Db, Sql } from '../base/db.ts'
import type { ErasedCustomer, ErasurePart, Removed } from '../base/erasure.ts'
import type { Keyring } from '../base/sealing/keyring.ts'
import type { Vault } from '../base/sealing/vault.ts'
import type { RunStep } from '../base/steps.ts'
import type { TeamActor } from '../team/member.ts'

export interface ErasureDeps {
  db: Db
  vault: Vault
  clock: Clock
  /** What is erased, in order: each room knows its own. */
  parts: readonly ErasurePart[]
  /** `write` is within the transaction of one step, `commit` all of it. */
  step: RunStep<'write' | 'commit'>
}

export const namings = ['phone', 'email', 'lead', 'conversation'] as const
/** What a customer was named by. */
export type Naming = (typeof namings)[number]

export interface ErasureRow {
  workspace_id: string
  id: string
  state: 'running' | 'done'
  named_by: Naming
  subject: Buffer | null
  part: number
  place: string | null
  removed: Removed
  actor_type: TeamActor['type']
  actor_id: string
  due_at: Date
  created_at: Date
  finished_at: Date | null
}

const subjectPlace = (id: string) => ({ table: 'erasures', row: id, column: 'subject' })

export function sealSubject(keyring: Keyring, id: string, customer: ErasedCustomer): Buffer {
  return keyring.seal(subjectPlace(id), JSON.stringify(customer))
}

export function openSubject(keyring: Keyring, id: string, sealed: Buffer): ErasedCustomer {
  return JSON.parse(keyring.openText(subjectPlace(id), sealed)) as ErasedCustomer
}

export async function findErasure(sql: Sql, workspaceId: string, id: string): Promise<ErasureRow | undefined> {
  const [row] = await sql<ErasureRow[]>`
    select *
    from erasures
    where workspace_id = ${workspaceId}
      and id = ${id}`
  return row
}

const shown = 50

/** The newest 50. */
export async function listErasures(sql: Sql, workspaceId: string): Promise<ErasureRow[]> {
  return sql<ErasureRow[]>`
    select *
    from erasures
    where workspace_id = ${workspaceId}
    order by id desc
    limit ${shown}`
}
