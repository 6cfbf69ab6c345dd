import type { Sql, Tx } from '../base/db.ts'
import type { StoredConnection } from '../channels/connection/connection.ts'
import { findConnection } from '../channels/connection/queries.ts'
import type { ChangeTx } from '../inbox/conversation/conversation.ts'
import { type Broadcast, pauseItself, storeBroadcast } from './broadcast.ts'
import { allowanceOf, batchOf, findPauseReason, limitWindowMs, pauseAfterMs, perMinuteOf } from './pacing.ts'

export interface Recipient {
  id: string
  leadId: string
  variant: number
  /** Digest of the number that the audience was frozen with. */
  phoneKey: string
}

/** Longer than almost every batch. A second process that takes over can do no harm: a send has an idempotency key. */
const claimMs = 120_000
const maxWaitMs = 10 * 60_000
/** How long after their local time recipients still get it on that day. */
const localWindowMs = 4 * 3_600_000

/**
 * Takes the next recipients of a running broadcast, at most as many as pace and limits allow, and says when the next may
 * be taken. In one transaction, so that no process can exceed the pace. Without any left, the broadcast is done.
 */
export async function claimRecipients(work: ChangeTx, broadcast: Broadcast): Promise<Recipient[]> {
  const { tx, keyring, workspaceId, now } = work
  const { id, connectionId, options, quality } = broadcast
  const connection = await findConnection(tx, keyring, workspaceId, connectionId)
  const reason = connection === undefined ? 'connection' : findPauseReason(connection, quality, now)
  if (connection === undefined || reason !== null) {
    await pauseItself(work, broadcast, reason ?? 'connection')
    return []
  }
  if (!(await hasPending(tx, workspaceId, id))) {
    await storeBroadcast(work, broadcast, { state: 'done', reason: null, endedAt: now, nextAt: now })
    return []
  }
  if (broadcast.localAt !== null) await postponeLate(work, id)
  const perMinute = perMinuteOf(connection, options.perMinute)
  const allowance = await readAllowance(tx, workspaceId, connection, now)
  if (allowance.left <= 0) {
    const nextAt = new Date(
      Math.min(Math.max(now.getTime() + 1_000, allowance.freeAt.getTime()), now.getTime() + maxWaitMs),
    )
    await storeBroadcast(work, broadcast, { reason: 'messaging_limit', nextAt })
    return []
  }
  const recipients = await tx<Recipient[]>`
    with due as (
      select id
      from broadcast_recipients
      where workspace_id = ${workspaceId}
        and broadcast_id = ${id}
        and status = 'pending'
        and due_at <= ${now}
        and (claimed_until is null or claimed_until <= ${now})
      order by due_at
      limit ${Math.min(batchOf(perMinute), allowance.left)}
      for update skip locked
    )
    update broadcast_recipients r
    set claimed_at = ${now},
      claimed_until = ${new Date(now.getTime() + claimMs)}
    from due
    where r.workspace_id = ${workspaceId}
      and r.id = due.id
    returning r.id, r.lead_id as "leadId", r.variant, replace(r.phone_key::text, '-', '') as "phoneKey"`
  if (recipients.length > 0) {
    const nextAt = new Date(now.getTime() + pauseAfterMs(recipients.length, perMinute))
    await tx`
      update broadcasts
      set next_at = ${nextAt},
        reason = null
      where workspace_id = ${workspaceId}
        and id = ${id}`
    return recipients
  }
  const [next] = await tx<{ at: Date | null }[]>`
    select min(greatest(due_at, claimed_until)) as at
    from broadcast_recipients
    where workspace_id = ${workspaceId}
      and broadcast_id = ${id}
      and status = 'pending'`
  // Looks again now and then, so that the page shows results while it waits.
  const soon = (time: Date) =>
    new Date(Math.min(Math.max(time.getTime(), now.getTime() + 1_000), now.getTime() + maxWaitMs))
  await storeBroadcast(work, broadcast, { reason: null, nextAt: soon(next?.at ?? now) })
  return []
}

/** Nobody gets a message for the morning at night, because of a pause or the pace: a day later, as the clock says in UTC. */
async function postponeLate({ tx, workspaceId, now }: ChangeTx, id: string): Promise<void> {
  await tx`
    with late as (
      select id, due_at + ceil(extract(epoch from ${now}::timestamptz - due_at) / 86400) * interval '24 hours' as at
      from broadcast_recipients
      where workspace_id = ${workspaceId}
        and broadcast_id = ${id}
        and status = 'pending'
        and due_at < ${new Date(now.getTime() - localWindowMs)}
        and (claimed_until is null or claimed_until <= ${now})
      for update
    )
    update broadcast_recipients r
    set due_at = late.at
    from late
    where r.workspace_id = ${workspaceId}
      and r.id = late.id`
}

async function hasPending(sql: Sql, workspaceId: string, id: string): Promise<boolean> {
  const rows = await sql`
    select id
    from broadcast_recipients
    where workspace_id = ${workspaceId}
      and broadcast_id = ${id}
      and status = 'pending'
    limit 1`
  return rows.length > 0
}

/**
 * Returns how many more customers may be written to first, and when the next is freed. The platform counts all numbers of
 * a business together, so all broadcasts of the workspace count, one after another.
 */
async function readAllowance(tx: Tx, workspaceId: string, { numberStatus }: StoredConnection, now: Date) {
  const limit = numberStatus?.messagingLimit ?? null
  if (limit === null || limit === 'unlimited') return { left: Number.POSITIVE_INFINITY, freeAt: now }
  await tx`select pg_advisory_xact_lock(hashtextextended(${`broadcasts ${workspaceId}`}, 0))`
  const [row] = await tx<{ used: number; first: Date | null }[]>`
    select count(*)::integer as used, min(claimed_at) as first
    from broadcast_recipients
    where workspace_id = ${workspaceId}
      and claimed_at > ${new Date(now.getTime() - limitWindowMs)}`
  return {
    left: allowanceOf(limit, row?.used ?? 0),
    freeAt: new Date((row?.first ?? now).getTime() + limitWindowMs),
  }
}
