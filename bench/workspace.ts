import { createApiKey } from '../server/src/auth/api-keys/change-key.ts'
import { makeTeamToken } from '../server/src/auth/credentials/team-tokens.ts'
import { systemClock } from '../server/src/base/clock.ts'
import type { Db } from '../server/src/base/db.ts'
import { openKeyStore } from '../server/src/base/encryption/key-store.ts'
import { hashToken } from '../server/src/base/encryption/secret-token.ts'
import { newId } from '../server/src/base/id.ts'
import { parseBulkItem } from '../server/src/leads/lead/input.ts'
import { upsertLeads } from '../server/src/leads/write/upsert.ts'
import { person } from './people.ts'

export const benchMasterKey = Buffer.alloc(32, 1)

export interface BenchWorkspace {
  workspaceId: string
  keyId: string
  key: string
}

/** Creates a workspace with an unlimited quota and a key with all permissions. */
export async function makeWorkspace(db: Db): Promise<BenchWorkspace> {
  const now = systemClock.now()
  const keyStore = openKeyStore(db, { current: benchMasterKey }, systemClock)
  await keyStore.ensureInstanceSecrets()
  const workspaceId = newId(now)
  return db.tx(async (tx) => {
    await tx`
      insert into workspaces (id, name, daily_lead_quota, created_at, updated_at)
      values (${workspaceId}, 'Bench', 0, ${now}, ${now})`
    await keyStore.createSecrets(tx, workspaceId)
    const scopes = ['leads.read', 'leads.write', 'leads.delete', 'leads.bulk', 'inbox.read', 'inbox.write'] as const
    const input = { workspaceId, createdBy: null, name: 'Bench', scopes: [...scopes], quietSeconds: 0 }
    const { key, value } = await createApiKey(tx, input, now)
    return { workspaceId, keyId: key.id, key: value }
  })
}

/** Creates a team token with all permissions in the workspace. */
export async function teamToken(db: Db, { workspaceId }: BenchWorkspace): Promise<string> {
  const value = makeTeamToken()
  const now = systemClock.now()
  await db.sql`
    insert into team_tokens (id, workspace_id, name, role, token_hash, last_four, created_at)
    values (${newId(now)}, ${workspaceId}, 'Bench', 'admin', ${hashToken(value)}, ${value.slice(-4)}, ${now})`
  return value
}

/** Fills the workspace through the bulk operation, a hundred leads at a time. */
export async function fillWorkspace(
  db: Db,
  workspaceId: string,
  count: number,
  onProgress: (done: number) => void,
): Promise<void> {
  const keyStore = openKeyStore(db, { current: benchMasterKey }, systemClock)
  const deps = { db, keyStore, clock: systemClock }
  const user = { workspaceId, defaultCountry: null, masked: false, actor: { type: 'system', id: null } } as const
  for (let done = 0; done < count; done += 100) {
    const items = Array.from({ length: Math.min(100, count - done) }, (_, n) => {
      const { externalRef, ...lead } = person(done + n)
      return parseBulkItem(
        { match: { by: 'externalRef', value: externalRef }, lead },
        { defaultCountry: null, at: `items[${n}]` },
      )
    })
    await upsertLeads(deps, user, items, { continueOnError: true, dryRun: false })
    onProgress(done + items.length)
  }
}
