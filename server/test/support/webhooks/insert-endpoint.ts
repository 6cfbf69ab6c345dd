import { systemClock } from '../../../src/base/clock.ts'
import type { Db } from '../../../src/base/db.ts'
import { newId } from '../../../src/base/id.ts'
import type { Keyring } from '../../../src/base/sealing/keyring.ts'
import { sealSettings } from '../../../src/webhooks/endpoint/endpoint.ts'

/** An endpoint that asks for every event, as the product stores it; answers its id. */
export async function insertEndpoint(
  db: Db,
  keyring: Keyring,
  workspaceId: string,
  { url, secret, pausedUntil = null }: { url: string; secret: string; pausedUntil?: Date | null },
): Promise<string> {
  const now = systemClock.now()
  const id = newId(now)
  const settings = sealSettings(keyring, id, { url, headers: {}, secrets: [{ value: secret, expiresAt: null }] })
  await db.tx(async (tx) => {
    await tx`
      insert into webhook_endpoints (
        workspace_id, id, events, phone_visibility, settings, state, state_changed_at, created_at, updated_at
      )
      values (
        ${workspaceId}, ${id}, ${['lead.*', 'inbox.*']}, 'full', ${settings}, 'active', ${now}, ${now}, ${now}
      )`
    await tx`
      insert into webhook_queues (workspace_id, endpoint_id, cursor, paused_until)
      values (${workspaceId}, ${id}, 0, ${pausedUntil})`
  })
  return id
}
