import type { Clock } from '../base/clock.ts'
import type { Db } from '../base/db.ts'
import type { ChannelEvent } from './channel-event.ts'
import type { RefusalEffect } from './connector.ts'
import { holdConnection, liftHold, markAvailable, markUnavailable, restrictConnection } from './health/availability.ts'
import { hintTemplates } from './templates/template-schedule.ts'

/** What the platform tells of a connection rather than of a customer. */
export type ConnectionSignal = Extract<
  ChannelEvent,
  { type: 'templates_changed' | 'connection_state' | 'account_restricted' }
>

interface SignalDeps {
  db: Db
  clock: Clock
}

interface ConnectionRef {
  workspaceId: string
  id: string
}

/** Acts on what the platform says of a connection itself rather than of a customer. */
export async function applyPlatformSignal(
  { db, clock }: SignalDeps,
  { workspaceId, id }: ConnectionRef,
  event: ConnectionSignal,
): Promise<void> {
  const now = clock.now()
  await db.tx(async (tx) => {
    if (event.type === 'templates_changed') await hintTemplates(tx, workspaceId, id, now)
    else if (event.type === 'account_restricted') await restrictConnection(tx, workspaceId, id, event, now)
    else if (event.available) await markAvailable(tx, workspaceId, id, now)
    else await markUnavailable(tx, workspaceId, id, event.reason, now)
  })
}

/** Acts on what a refused message means for its connection: it cannot send any more, or not all, or its templates are not ours. */
export async function applyRefusal(
  { db, clock }: SignalDeps,
  { workspaceId, id }: ConnectionRef,
  effect: RefusalEffect,
  errorCode: string,
): Promise<void> {
  if (effect === 'none') return
  const now = clock.now()
  await db.tx(async (tx) => {
    if (effect === 'templates_stale') await hintTemplates(tx, workspaceId, id, now)
    else await holdConnection(tx, workspaceId, id, errorCode, now, effect === 'connection_unavailable')
  })
}

/** The platform took the send that was to find out whether it takes such messages again. */
export async function applyAcceptance(
  { db, clock }: SignalDeps,
  { workspaceId, id }: ConnectionRef,
  reason: string,
): Promise<void> {
  await db.tx((tx) => liftHold(tx, workspaceId, id, reason, clock.now()))
}
