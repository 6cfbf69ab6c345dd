import { newId } from '../../base/id.ts'
import type { Log } from '../../base/log.ts'
import { adapterOf, type FetchedTemplates } from '../adapter.ts'
import { findConnection } from '../connection/queries.ts'
import { type RegistrationDeps, retry } from '../connection/registration.ts'
import { holdConnection } from '../health/availability.ts'
import { type Claim, claimDue, claimNow, endClaim } from './template-schedule.ts'
import { replaceTemplates } from './templates.ts'

export interface SyncDeps extends RegistrationDeps {
  log: Log
}

const atOnce = 5

/** One round of the periodic reading: takes the connections that are due, and returns how many there were. */
export async function syncDueTemplates(deps: SyncDeps): Promise<number> {
  const claims = await deps.db.tx((tx) => claimDue(tx, atOnce, deps.clock.now()))
  await Promise.all(claims.map((claim) => syncClaimed(deps, claim)))
  return claims.length
}

/** Reads a connection's templates now. Null when done, else the code of what went wrong. */
export async function syncTemplates(deps: SyncDeps, workspaceId: string, connectionId: string): Promise<string | null> {
  return syncClaimed(deps, await deps.db.tx((tx) => claimNow(tx, workspaceId, connectionId, deps.clock.now())))
}

async function syncClaimed(deps: SyncDeps, claim: Claim): Promise<string | null> {
  const { workspaceId, connectionId } = claim
  const keyring = await deps.vault.keyring(workspaceId)
  const connection = await findConnection(deps.db.sql, keyring, workspaceId, connectionId)
  if (connection === undefined) return 'removed'
  const adapter = adapterOf(deps.adapters, connection)
  if (adapter.fetchTemplates === undefined) return null
  // Nobody has to act on a platform that was away; other reasons stand until somebody did.
  await retry(deps, connection)
  const fetched = await adapter.fetchTemplates(connection)
  if (!fetched.ok) {
    deps.log.warn('templates not read', { workspaceId, connectionId, code: fetched.errorCode })
  }
  await storeFetched(deps, claim, fetched)
  return fetched.ok ? null : fetched.errorCode
}

async function storeFetched(deps: SyncDeps, claim: Claim, fetched: FetchedTemplates): Promise<void> {
  const { workspaceId, connectionId } = claim
  const now = deps.clock.now()
  await deps.db.tx(async (tx) => {
    await endClaim(tx, claim, fetched.ok ? now : null, now)
    if (fetched.ok) {
      const templates = fetched.templates.map((template) => ({ id: newId(now), ...template }))
      await replaceTemplates(tx, workspaceId, connectionId, templates, now)
    } else if (fetched.isDown) {
      await holdConnection(tx, workspaceId, connectionId, fetched.errorCode, now)
    }
  })
}
