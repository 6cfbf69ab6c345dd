import { systemClock } from '../../../server/src/base/clock.ts'
import type { Db } from '../../../server/src/base/db.ts'
import { openKeyStore } from '../../../server/src/base/encryption/key-store.ts'
import type { Keyring } from '../../../server/src/base/encryption/keyring.ts'
import { encryptSettings, settingsPlace } from '../../../server/src/channels/connection/queries.ts'
import type { Peer } from '../../comparison.ts'
import { conversationId, decryptableLead, decryptableLeads, isDecryptable, type Tenant } from '../../large/tenant.ts'
import { benchMasterKey, teamToken } from '../../workspace.ts'

/** Workspace, and the process that serves it. */
export interface Side {
  name: string
  peer: Peer
  tenant: Tenant
  token: string
  /** Ids of leads of all ages. */
  leadIds: string[]
  /** Indexes of decryptable conversations of all ages. */
  read: number[]
  /** Indexes of conversations of all ages that the key owns and whose windows are open. */
  answered: number[]
}

const [readLeads, readThreads, answeredThreads] = [5_000, 400, 1_200]
const windowHours = 20

export async function prepareSide(name: string, db: Db, tenant: Tenant, peer: Peer, port: number): Promise<Side> {
  const { workspaceId, conversations } = tenant
  const refs = spread(decryptableLeads(tenant), readLeads).map((n) => `crm-${decryptableLead(tenant, n)}`)
  const rows = await db.sql<{ id: string }[]>`
    select id
    from leads
    where workspace_id = ${workspaceId}
      and external_ref = any (${refs}::text[])
      and deleted_at is null`
  const keyStore = openKeyStore(db, { current: benchMasterKey }, systemClock)
  await setPlatformUrl(db, await keyStore.keyring(workspaceId), tenant, port)
  // People own every third.
  const answered = spread(conversations, answeredThreads).filter((n) => n % 3 !== 0)
  await db.sql`
    update conversations
    set window_expires_at = ${new Date(Date.now() + windowHours * 3_600_000)}
    where workspace_id = ${workspaceId}
      and id = any (${answered.map((n) => conversationId(tenant, n))}::uuid[])`
  const read = Array.from({ length: conversations }, (_, n) => n).filter((n) => isDecryptable(tenant, n))
  return {
    name,
    peer,
    tenant,
    token: await teamToken(db, tenant),
    leadIds: rows.map(({ id }) => id),
    read: spread(read.length, readThreads).flatMap((at) => read[at] ?? []),
    answered,
  }
}

/** Returns evenly distributed numbers below a bound. */
function spread(bound: number, count: number): number[] {
  const all = Math.min(bound, count)
  return Array.from({ length: all }, (_, n) => Math.floor((n * bound) / all))
}

/** Updates the platform's URL, which differs in each run. */
async function setPlatformUrl(db: Db, keyring: Keyring, { workspaceId }: Tenant, port: number): Promise<void> {
  const rows = await db.sql<{ id: string; settings: Buffer }[]>`
    select id, settings
    from connections
    where workspace_id = ${workspaceId}`
  for (const { id, settings } of rows) {
    const before = JSON.parse(keyring.decryptText(settingsPlace(id), settings))
    const after = encryptSettings(keyring, id, { ...before, baseUrl: `http://127.0.0.1:${port}` })
    await db.sql`
      update connections
      set settings = ${after}
      where workspace_id = ${workspaceId}
        and id = ${id}`
  }
}
