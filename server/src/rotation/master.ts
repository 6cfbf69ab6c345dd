import type { Clock } from '../base/clock.ts'
import type { Db } from '../base/db.ts'
import { conflict } from '../base/errors.ts'
import { replaceMasterKeyFile } from '../base/sealing/master-key.ts'
import { instanceScope, type Vault } from '../base/sealing/vault.ts'
import { recordAudit } from '../team/audit.ts'
import type { TeamActor } from '../team/member.ts'

export interface MasterDeps {
  db: Db
  vault: Vault
  clock: Clock
  /** Where this installation keeps its master key, if it does; null when the settings give it. */
  masterKeyFile: string | null
  /** Told of a new key before it wraps anything: others of this process hold keys too. */
  masterKeyReplaced: (masterKey: Buffer) => void
  /** Whether other nodes, with key files of their own, may use the same database. */
  sharesDatabase: boolean
}

export interface MasterRotated {
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
  const { db, vault, masterKeyFile: path } = deps
  let previousFile: string | null = null
  if (path !== null && !(await hasOldSecrets(deps))) {
    if (deps.sharesDatabase) throw fileIsNotShared()
    const replaced = replaceMasterKeyFile(path)
    previousFile = replaced.previousFile
    vault.useMasterKey(replaced.masterKey)
    deps.masterKeyReplaced(replaced.masterKey)
  }
  const rewrapped = await vault.rewrapSecrets()
  const masterKeyId = vault.masterKeyId()
  const entry = { scopeId: instanceScope, actor, action: 'keys.master_rotated', target: `master:${masterKeyId}` }
  await db.tx((tx) => recordAudit(tx, entry, deps.clock.now()))
  return { masterKeyId, rewrapped, previousFile }
}

async function hasOldSecrets({ db, vault }: MasterDeps): Promise<boolean> {
  const rows = await db.sql`
    select 1
    from secrets
    where master_key_id <> ${vault.masterKeyId()}
    limit 1`
  return rows.length > 0
}

const fileIsNotShared = () =>
  conflict(
    'This node keeps its master key in a file of its own, and others may use the same database: give every node the new key as PARLEY_MASTER_KEY and the old one in PARLEY_PREVIOUS_MASTER_KEYS, restart them, and run this again',
  )
