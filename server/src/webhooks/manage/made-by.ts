import type { MadeWebhook } from '../../access/people/change-members.ts'
import type { Tx } from '../../base/db.ts'
import type { Member } from '../../team/member.ts'
import { disableEndpoint } from '../endpoint/disable.ts'
import { openEndpoint, selectMadeBy } from '../endpoint/endpoint.ts'
import { addressOutline } from '../endpoint/present.ts'
import type { WebhookDeps } from './deps.ts'

/** Outlines of the endpoints that this person answers for, the newest first. */
export async function webhooksMadeBy(
  { db, vault }: Pick<WebhookDeps, 'db' | 'vault'>,
  workspaceId: string,
  userId: string,
): Promise<MadeWebhook[]> {
  const rows = await selectMadeBy(db.sql, workspaceId, userId)
  return vault.withKeyring(workspaceId, (keyring) =>
    rows.map((row) => {
      const { id, description, state, createdAt, settings } = openEndpoint(keyring, row)
      return { id, url: addressOutline(settings.url), description, state, createdAt, lastUsedAt: row.last_success_at }
    }),
  )
}

/** Lets nothing more go to the endpoints that this person answers for; returns how many were active. */
export async function disableMadeBy(
  tx: Tx,
  { workspaceId, actor }: Pick<Member, 'workspaceId' | 'actor'>,
  userId: string,
  now: Date,
): Promise<number> {
  let disabled = 0
  for (const { id } of await selectMadeBy(tx, workspaceId, userId)) {
    if (await disableEndpoint(tx, { workspaceId, id }, 'member', actor, now)) disabled++
  }
  return disabled
}
