// Writes a share of a large workspace, encrypted and as plain text. Started by load-leads.ts.
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../server/src/base/clock.ts'
import { openDb } from '../server/src/base/db.ts'
import { openKeyStore } from '../server/src/base/encryption/key-store.ts'
import { newId } from '../server/src/base/id.ts'
import { newLead } from '../server/src/leads/lead/change.ts'
import type { Lead } from '../server/src/leads/lead/lead.ts'
import { searchLines, searchTokens } from '../server/src/leads/lead/search-lines.ts'
import { insertLeads } from '../server/src/leads/lead/write.ts'
import { tokenUpsertStatement } from '../server/src/leads/search/index-leads.ts'
import type { Database } from './database-address.ts'
import { person } from './people.ts'
import { benchMasterKey } from './workspace.ts'

export interface LoadShare {
  db: Database
  workspaceId: string
  count: number
  /** This thread writes every `threads`-th batch, starting with number `thread`. */
  thread: number
  threads: number
}

const batch = 500
const { db: options, workspaceId, count, thread, threads } = workerData as LoadShare
const db = openDb({ ...options, maxConnections: 1 })
const keyring = await openKeyStore(db, { current: benchMasterKey }, systemClock).keyring(workspaceId)
// Two years of leads; the newest is from this minute.
const end = systemClock.now().getTime()
const apartMs = (2 * 365 * 86_400_000) / count

for (let start = thread * batch; start < count; start += threads * batch) {
  const leads = Array.from({ length: Math.min(batch, count - start) }, (_, n) => leadOf(start + n))
  await db.tx(async (tx) => {
    await insertLeads(tx, keyring, workspaceId, leads)
    await tokenUpsertStatement(
      tx,
      keyring,
      workspaceId,
      leads.map((lead) => ({ id: lead.id, tokens: searchTokens(keyring, lead) })),
    )
    await tx`
      insert into floor_leads (
        workspace_id, id, unique_code, external_ref, first_name, last_name, email, phone, status, priority, source,
        estimated_value, created_at, updated_at, haystack
      )
      select 1, r.* from jsonb_to_recordset(${tx.json(leads.map(withHaystack) as never)}) as r (
        id uuid, "uniqueCode" text, "externalRef" text, "firstName" text, "lastName" text, email text, phone text,
        status text, priority text, source text, "estimatedValue" numeric, "createdAt" timestamptz,
        "updatedAt" timestamptz, haystack text
      )`
  })
  parentPort?.postMessage(leads.length)
}
await db.close()

function leadOf(n: number): Lead {
  const at = new Date(Math.round(end - (count - n) * apartMs))
  return newLead({ fields: person(n), phoneAsSent: null, typed: [], values: {} }, newId(at), '', at).lead
}

function withHaystack(lead: Lead): object {
  const { personal, phone, plain } = searchLines(lead)
  return { ...lead, haystack: [...personal, phone, ...plain].join('\n') }
}
