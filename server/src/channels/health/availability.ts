import type { Tx } from '../../base/db.ts'
import { newId } from '../../base/id.ts'
import { recordNotices } from '../../notices/record.ts'
import { announceConnection } from '../../team/team-news.ts'
import type { ConnectionState } from '../connection/connection.ts'
import { stopOf } from '../waba/stops.ts'
import { type AccountRestrictions, type Hold, lifted, refusedAgain, restricted, tried } from './holds.ts'

/**
 * Marks a connection as one that cannot send, for a reason of the form `platform_error_190` or `partner_removed`.
 * One that a member has paused stays paused.
 */
export async function markUnavailable(
  tx: Tx,
  workspaceId: string,
  connectionId: string,
  reason: string,
  now: Date,
): Promise<boolean> {
  const { count } = await tx`
    update connections
    set state = 'unavailable',
      state_reason = ${reason},
      state_changed_at = ${now},
      updated_at = ${now}
    where workspace_id = ${workspaceId}
      and id = ${connectionId}
      and state = 'active'
      and removed_at is null`
  if (count > 0) announceConnection(tx, workspaceId, connectionId)
  return count > 0
}

/** Lets an unavailable connection send again. */
export async function markAvailable(tx: Tx, workspaceId: string, connectionId: string, now: Date): Promise<boolean> {
  const { count } = await tx`
    update connections
    set state = 'active',
      state_reason = null,
      state_changed_at = ${now},
      updated_at = ${now}
    where workspace_id = ${workspaceId}
      and id = ${connectionId}
      and state = 'unavailable'
      and removed_at is null`
  if (count > 0) announceConnection(tx, workspaceId, connectionId)
  return count > 0
}

const reasonPrefix = 'platform_error_'

/** The reason of an unavailable connection that an error code of the platform gives. */
export const platformReason = (errorCode: string): string => `${reasonPrefix}${errorCode}`

export const codeOf = (reason: string): string =>
  reason.startsWith(reasonPrefix) ? reason.slice(reasonPrefix.length) : reason

interface Standing {
  state: ConnectionState
  stateReason: string | null
  stateChangedAt: Date
  holds: readonly Hold[]
}

/** The holds of a connection: one of everything counts while it is unavailable for that reason alone. */
export function holdsOf({ state, stateReason, stateChangedAt, holds }: Standing): Hold[] {
  const kept = holds.map((one) => {
    const isOver =
      one.stops === 'all' && one.liftedAt === null && (state !== 'unavailable' || stateReason !== one.reason)
    return isOver ? { ...one, liftedAt: stateChangedAt.toISOString() } : one
  })
  const isHeld = kept.some(({ reason, liftedAt }) => reason === stateReason && liftedAt === null)
  if (state !== 'unavailable' || isHeld || stateReason?.startsWith(reasonPrefix) !== true) return kept
  // Made unavailable by an edition of this service that knew of no holds.
  const stop = { ...stopOf(codeOf(stateReason)), stops: 'all' as const }
  const others = kept.filter(({ reason }) => reason !== stateReason)
  return refusedAgain(others, stop, stateReason, stateChangedAt).holds
}

/** Changes what is held of a connection, which nobody else changes meanwhile. */
async function changeHolds(
  tx: Tx,
  workspaceId: string,
  connectionId: string,
  change: (standing: Standing) => readonly Hold[] | null,
): Promise<boolean> {
  const [row] = await tx<Standing[]>`
    select state, state_reason as "stateReason", state_changed_at as "stateChangedAt", holds
    from connections
    where workspace_id = ${workspaceId}
      and id = ${connectionId}
      and removed_at is null
    for no key update`
  if (row === undefined) return false
  const holds = change({ ...row, holds: holdsOf(row) })
  if (holds === null) return false
  await tx`
    update connections
    set holds = ${tx.json(holds)}
    where workspace_id = ${workspaceId}
      and id = ${connectionId}`
  announceConnection(tx, workspaceId, connectionId)
  return true
}

/**
 * Holds what the platform refuses for a reason that is not of the message: everything, or what is charged. Everyone of the team
 * is told once of the latter; of the former they are told by `tellOutages`.
 */
export async function holdConnection(
  tx: Tx,
  workspaceId: string,
  connectionId: string,
  errorCode: string,
  now: Date,
  isOfAll: boolean,
): Promise<void> {
  const reason = platformReason(errorCode)
  const stop = { ...stopOf(errorCode), stops: isOfAll ? ('all' as const) : ('billable' as const) }
  let isTold = false
  const isHeld = await changeHolds(tx, workspaceId, connectionId, ({ state, stateReason, holds }) => {
    const isOther = state === 'unavailable' && stateReason !== reason
    if (stop.stops === 'all' && (state === 'paused' || isOther)) return null
    const refused = refusedAgain(holds, stop, reason, now)
    isTold = refused.isNews && stop.stops !== 'all'
    return refused.holds
  })
  if (isHeld && stop.stops === 'all') await markUnavailable(tx, workspaceId, connectionId, reason, now)
  if (isTold) await tell(tx, workspaceId, connectionId, [reason], now)
}

/** Takes a send for the one that finds out whether a hold is over: false when another one does, or it is not the time. */
export function claimTry(
  tx: Tx,
  workspaceId: string,
  connectionId: string,
  reason: string,
  now: Date,
): Promise<boolean> {
  return changeHolds(tx, workspaceId, connectionId, ({ holds }) => tried(holds, reason, now))
}

/** The platform took what was held for that reason. */
export async function liftHold(
  tx: Tx,
  workspaceId: string,
  connectionId: string,
  reason: string,
  now: Date,
): Promise<void> {
  let isOfAll = false
  await changeHolds(tx, workspaceId, connectionId, ({ stateReason, holds }) => {
    isOfAll = stateReason === reason
    return lifted(holds, reason, now)
  })
  if (isOfAll) await markAvailable(tx, workspaceId, connectionId, now)
}

/** The platform restricts the account of a connection, or no longer does. Everyone of the team is told of what is new. */
export async function restrictConnection(
  tx: Tx,
  workspaceId: string,
  connectionId: string,
  restrictions: AccountRestrictions,
  now: Date,
): Promise<void> {
  let news: string[] = []
  await changeHolds(tx, workspaceId, connectionId, ({ holds }) => {
    const change = restricted(holds, restrictions, now)
    news = change.news
    return change.holds
  })
  await tell(tx, workspaceId, connectionId, news, now)
}

/** Tells everyone of the team something about a connection that works, by a reason for which there is advice. */
export async function tell(
  tx: Tx,
  workspaceId: string,
  connectionId: string,
  reasons: readonly string[],
  now: Date,
): Promise<void> {
  const about = { kind: 'connection', userId: null, connectionId, actor: { type: 'system', id: null } } as const
  const notices = reasons.map((reason) => ({ ...about, cause: newId(now), reason }))
  await recordNotices(tx, workspaceId, notices, now)
}
