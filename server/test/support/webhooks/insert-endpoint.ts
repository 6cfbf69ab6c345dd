import { systemClock } from '../../../src/base/clock.ts'
import type { Db } from '../../../src/base/db.ts'
import { newId } from '../../../src/base/id.ts'
import type { Keyring } from '../../../src/base/sealing/keyring.ts'
import { type Endpoint, insertEndpoint as insert } from '../../../src/webhooks/endpoint/endpoint.ts'

interface NewEndpoint {
  url: string
  secret: string
  /** All of them unless given. */
  events?: string[]
  phoneVisibility?: 'full' | 'masked'
  headers?: Record<string, string>
  pausedUntil?: Date | null
  now?: Date
}

/** Stores an endpoint that is sent what gets its place from now on; returns its id. */
export async function insertEndpoint(
  db: Db,
  keyring: Keyring,
  workspaceId: string,
  { url, secret, events, phoneVisibility, headers, pausedUntil, now = systemClock.now() }: NewEndpoint,
): Promise<string> {
  const id = newId(now)
  const endpoint: Endpoint = {
    workspaceId,
    id,
    description: null,
    events: events ?? ['lead.*', 'inbox.*'],
    phoneVisibility: phoneVisibility ?? 'full',
    settings: { url, headers: headers ?? {}, secrets: [{ value: secret, expiresAt: null }] },
    state: 'active',
    stateReason: null,
    stateChangedAt: now,
    createdBy: null,
    createdAt: now,
    updatedAt: now,
  }
  await db.tx(async (tx) => {
    await insert(tx, keyring, endpoint)
    await tx`
      insert into webhook_queues (workspace_id, endpoint_id, cursor, paused_until)
      select ${workspaceId}::uuid, ${id}::uuid, coalesce(max(last_position), 0), ${pausedUntil ?? null}::timestamptz
      from event_feeds
      where workspace_id = ${workspaceId}`
  })
  return id
}
