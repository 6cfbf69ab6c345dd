import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../../base/db.ts'
import type { ChannelEvent } from '../../channel-event.ts'
import type { SessionConnection } from '../../connection/connection.ts'
import { isWorthNoting, noteActivity } from '../../health/activity.ts'
import { lagOf } from '../../lag.ts'
import { endsOf, presetIdsIn, tellOwnApart } from '../send/own-messages.ts'
import { endSends, findOwn } from '../send/sends.ts'
import { type Hold, type HoldDeps, isHeld } from './hold.ts'
import { isOurs } from './lease.ts'

const defaultRetryMs = 500
/** While the database can be reached. */
const maxTries = 20

/**
 * Hands on what the network sent. Resolves true once it is committed; false when the session is another's meanwhile, so that it
 * must not be acknowledged. What cannot be stored for no reason of the database is logged and given up: it must not hold up
 * what comes after it.
 */
export async function ingest(
  deps: HoldDeps,
  hold: Hold,
  connection: SessionConnection,
  events: readonly ChannelEvent[],
): Promise<boolean> {
  const { connectionId } = hold.lease
  for (let tries = 1; isHeld(hold); tries++) {
    try {
      return await handOnOnce(deps, hold, connection, events)
    } catch (error) {
      deps.log.warn('what a session heard is not stored yet', { connectionId, attempt: tries }, error)
      if (tries >= maxTries && (await answers(deps.db))) {
        deps.log.error('what a session heard is given up', { connectionId, count: events.length }, error)
        return true
      }
      await sleep(deps.retryMs ?? defaultRetryMs)
    }
  }
  return false
}

async function handOnOnce(
  deps: HoldDeps,
  hold: Hold,
  connection: SessionConnection,
  events: readonly ChannelEvent[],
): Promise<boolean> {
  const { db, clock } = deps
  const { lease } = hold
  if (!(await isOurs(db.sql, lease))) return false
  const own = await findOwn(db.sql, lease, presetIdsIn(events))
  const told = tellOwnApart(events, own)
  await deps.receive(connection, told)
  const ends = endsOf(told, own)
  for (const { id } of ends) hold.line?.awaited.delete(id)
  const now = clock.now()
  const isWorth = isWorthNoting(hold.notedAt, now)
  if (ends.length === 0 && !isWorth) return true
  await db.tx(async (tx) => {
    await endSends(tx, lease, ends)
    if (isWorth) await noteActivity(tx, lease.workspaceId, lease.connectionId, 'in', now, lagOf(told, now))
  })
  if (isWorth) hold.notedAt = now
  return true
}

async function answers({ sql }: Db): Promise<boolean> {
  return sql`select 1`.then(
    () => true,
    () => false,
  )
}
