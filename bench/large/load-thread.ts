// Writes a share of large workspaces, encrypted, by COPY. Started by load-large.ts.
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../server/src/base/clock.ts'
import { withSession } from '../../server/src/base/copy/catalog.ts'
import { copyIn } from '../../server/src/base/copy/copy.ts'
import { openDb } from '../../server/src/base/db.ts'
import { openKeyStore } from '../../server/src/base/encryption/key-store.ts'
import type { Keyring } from '../../server/src/base/encryption/keyring.ts'
import { socketAddress } from '../../server/src/base/postgres/address.ts'
import type { Database } from '../database-address.ts'
import { benchMasterKey } from '../workspace.ts'
import { openRowBuffers, type RowBuffer } from './binary-rows.ts'
import { addLeads } from './rows-of-leads.ts'
import { addConversations, addMessages } from './rows-of-messages.ts'
import { type Job, jobsOf, type Tenant } from './tenant.ts'

export interface LargeShare {
  db: Database
  tenants: readonly Tenant[]
  tables: readonly string[]
  kinds: readonly Job['kind'][]
  /** Rows per piece. This thread writes every `threads`-th piece, starting with number `thread`. */
  piece: number
  thread: number
  threads: number
}

const { db: options, tenants, tables, kinds, piece, thread, threads } = workerData as LargeShare
const flushBytes = 16 * 1024 * 1024

const db = openDb({ ...options, maxConnections: 1 })
const keyStore = openKeyStore(db, { current: benchMasterKey }, systemClock)
const keyrings: Keyring[] = []
for (const { workspaceId } of tenants) keyrings.push(await keyStore.keyring(workspaceId))
const sheetOf = await openRowBuffers(db.sql, tables)
await db.close()

await withSession(socketAddress(options), 'bench load', async (client) => {
  const filled = new Map<string, RowBuffer>()
  const filling = (table: string): RowBuffer => {
    const sheet = filled.get(table) ?? sheetOf(table)
    filled.set(table, sheet)
    return sheet
  }
  const flush = async () => {
    for (const sheet of filled.values())
      if (sheet.bytes() > 0) await copyIn(client, sheet.statement, one(sheet.flush()))
    filled.clear()
  }
  const jobs = jobsOf(tenants, piece)
    .filter(({ kind }) => kinds.includes(kind))
    .filter((_, n) => n % threads === thread)
  for (const job of jobs) {
    const [tenant, keyring] = [tenants[job.tenant], keyrings[job.tenant]]
    if (tenant === undefined || keyring === undefined) throw new Error('Unknown tenant of a piece')
    if (job.kind === 'leads') addLeads(tenant, keyring, job, filling)
    else if (job.kind === 'conversations') addConversations(tenant, keyring, job, filling)
    else addMessages(tenant, keyring, job, filling)
    const bytes = [...filled.values()].reduce((sum, sheet) => sum + sheet.bytes(), 0)
    if (bytes > flushBytes) await flush()
    parentPort?.postMessage(1 / (jobs.length * threads))
  }
  await flush()
})

async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}
