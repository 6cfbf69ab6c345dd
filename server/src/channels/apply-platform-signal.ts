import type { Clock } from '../base/clock.ts'
import type { Db } from '../base/db.ts'
import type { ChannelEvent } from './channel-event.ts'
import type { RefusalEffect } from './connector.ts'
import { markAvailable, markUnavailable } from './health/availability.ts'
import { hintTemplates } from './templates/template-schedule.ts'

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
  event: Extract<ChannelEvent, { type: 'templates_changed' | 'connection_state' }>,
): Promise<void> {
  const now = clock.now()
  await db.tx(async (tx) => {
    if (event.type === 'templates_changed') await hintTemplates(tx, workspaceId, id, now)
    else if (event.available) await markAvailable(tx, workspaceId, id, now)
    else await markUnavailable(tx, workspaceId, id, event.reason, now)
  })
}

/** Acts on what a refused message means for its connection: it cannot send any more, or its templates are not ours. */
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
    else await markUnavailable(tx, workspaceId, id, platformReason(errorCode), now)
  })
}

/** The reason of an unavailable connection that an error code of the platform gives. */
export const platformReason = (errorCode: string): string => `platform_error_${errorCode}`
