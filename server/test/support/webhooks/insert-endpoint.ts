import { systemClock } from '../../../src/base/clock.ts'
import type { Db } from '../../../src/base/db.ts'
import type { Keyring } from '../../../src/base/encryption/keyring.ts'
import { newId } from '../../../src/base/id.ts'
import { type Endpoint, insertEndpoint as insert } from '../../../src/webhooks/endpoint/endpoint.ts'

export interface NewEndpoint extends Partial<Pick<Endpoint, 'events' | 'phoneVisibility'>> {
  url: string
  secret: string
  headers?: Record<string, string>
  pausedUntil?: Date | null
  now?: Date
}

/** Stores an endpoint that receives events sequenced from now on; returns its id. */
export async function insertEndpoint(
  db: Db,
  keyring: Keyring,
  workspaceId: string,
  { url, secret, headers = {}, pausedUntil = null, now = systemClock.now(), ...more }: NewEndpoint,
): Promise<string> {
  const id = newId(now)
  const settings = { url, headers, secrets: [{ value: secret, expiresAt: null }] }
  const kinds = {
    events: more.events ?? ['lead.*', 'inbox.*'],
    phoneVisibility: more.phoneVisibility ?? 'full',
  } as const
  const standing = { state: 'active', stateReason: null, stateChangedAt: now } as const
  const made = { description: null, createdBy: null, createdAt: now, updatedAt: now }
  await db.tx(async (tx) => {
    await insert(tx, keyring, { workspaceId, id, settings, ...kinds, ...standing, ...made })
    await tx`
      insert into webhook_queues (workspace_id, endpoint_id, cursor, paused_until)
      select ${workspaceId}::uuid, ${id}::uuid, coalesce(max(last_position), 0), ${pausedUntil}::timestamptz
      from event_feeds
      where workspace_id = ${workspaceId}`
  })
  return id
}
