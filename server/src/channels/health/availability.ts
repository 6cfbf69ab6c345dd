import type { Tx } from '../../base/db.ts'
import { newId } from '../../base/id.ts'
import { recordNotifications } from '../../notifications/record-notifications.ts'
import { publishConnection } from '../../team/live-updates.ts'
import {
  type ConnectionKey,
  type ConnectionState,
  type StoredConnection,
  setupReason,
} from '../connection/connection.ts'
import { updateColumns } from '../connection/update-columns.ts'
import { holdRuleOf } from '../waba/errors.ts'
import {
  type AccountRestrictions,
  addRefusal,
  applyRestrictions,
  type Hold,
  liftMatchingHold,
  startProbe,
} from './holds.ts'

/**
 * Marks an active connection as unavailable, with a reason such as `platform_error_190` or `partner_removed`. A paused
 * connection stays paused.
 */
export const markUnavailable = (tx: Tx, one: ConnectionKey, reason: string, now: Date): Promise<boolean> =>
  changeState(tx, one, 'active', 'unavailable', reason, now)

/** Marks an unavailable connection as active; not one in setup, which becomes active by its own steps. */
export const markAvailable = (tx: Tx, one: ConnectionKey, now: Date): Promise<boolean> =>
  changeState(tx, one, 'unavailable', 'active', null, now)

async function changeState(
  tx: Tx,
  one: ConnectionKey,
  from: ConnectionState,
  to: ConnectionState,
  reason: string | null,
  now: Date,
): Promise<boolean> {
  const columns = tx`
      state = ${to},
      state_reason = ${reason},
      state_changed_at = ${now},
      updated_at = ${now}`
  const isFrom = tx`state = ${from} and state_reason is distinct from ${setupReason}`
  const isChanged = await updateColumns(tx, one, columns, isFrom)
  if (isChanged) publishConnection(tx, one.workspaceId, one.id)
  return isChanged
}

const reasonPrefix = 'platform_error_'

/** Returns the `stateReason` for an error code of the platform. */
export const platformReason = (errorCode: string): string => `${reasonPrefix}${errorCode}`

export const errorCodeOf = (reason: string): string =>
  reason.startsWith(reasonPrefix) ? reason.slice(reasonPrefix.length) : reason

type HoldState = Pick<StoredConnection, 'state' | 'stateReason' | 'stateChangedAt' | 'holds'>

/** Returns the holds of a connection. A hold of everything applies only while it is the reason for unavailability. */
export function holdsOf({ state, stateReason, stateChangedAt, holds }: HoldState): Hold[] {
  const kept = holds.map((one) => {
    const isOver =
      one.stops === 'all' && one.liftedAt === null && (state !== 'unavailable' || stateReason !== one.reason)
    return isOver ? { ...one, liftedAt: stateChangedAt.toISOString() } : one
  })
  const isHeld = kept.some(({ reason, liftedAt }) => reason === stateReason && liftedAt === null)
  if (state !== 'unavailable' || isHeld || stateReason?.startsWith(reasonPrefix) !== true) return kept
  // Marked unavailable by a version of Parley without holds.
  const stop = { ...holdRuleOf(errorCodeOf(stateReason)), stops: 'all' as const }
  const others = kept.filter(({ reason }) => reason !== stateReason)
  return addRefusal(others, stop, stateReason, stateChangedAt).holds
}

/** Changes the holds of a connection under a row lock. */
async function changeHolds(
  tx: Tx,
  one: ConnectionKey,
  change: (holdState: HoldState) => readonly Hold[] | null,
): Promise<boolean> {
  const { workspaceId, id } = one
  const [row] = await tx<HoldState[]>`
    select state, state_reason as "stateReason", state_changed_at as "stateChangedAt", holds
    from connections
    where workspace_id = ${workspaceId}
      and id = ${id}
      and removed_at is null
    for no key update`
  if (row === undefined) return false
  const holds = change({ ...row, holds: holdsOf(row) })
  if (holds === null) return false
  await updateColumns(tx, one, tx`holds = ${tx.json(holds)}`)
  publishConnection(tx, workspaceId, id)
  return true
}

/**
 * Creates a hold for a refusal that is not about the message: on everything, or on charged messages. Notifies all
 * members once of a hold on charged messages; `notifyOutages` notifies them of a hold on everything.
 */
export async function holdConnection(
  tx: Tx,
  one: ConnectionKey,
  errorCode: string,
  now: Date,
  stops: 'all' | 'billable',
): Promise<void> {
  const reason = platformReason(errorCode)
  let mustNotify = false
  const isHeld = await changeHolds(tx, one, ({ state, stateReason, holds }) => {
    const isOther = state === 'unavailable' && stateReason !== reason
    if (stops === 'all' && (state === 'paused' || isOther)) return null
    const refusal = addRefusal(holds, { ...holdRuleOf(errorCode), stops }, reason, now)
    mustNotify = refusal.isNew && stops !== 'all'
    return refusal.holds
  })
  if (isHeld && stops === 'all') await markUnavailable(tx, one, reason, now)
  if (mustNotify) await notifyMembers(tx, one, [reason], now)
}

/** Claims the test of a hold. Returns false if another test is running or it is too early. */
export const claimProbe = (tx: Tx, one: ConnectionKey, reason: string, now: Date): Promise<boolean> =>
  changeHolds(tx, one, ({ holds }) => startProbe(holds, reason, now))

/** Ends the hold with this reason, after the platform accepted a message. */
export async function liftHold(tx: Tx, one: ConnectionKey, reason: string, now: Date): Promise<void> {
  let stopsAll = false
  await changeHolds(tx, one, ({ stateReason, holds }) => {
    stopsAll = stateReason === reason
    return liftMatchingHold(holds, reason, now)
  })
  if (stopsAll) await markAvailable(tx, one, now)
}

/** Applies a change of the account's restrictions. Notifies all members of new ones. */
export async function restrictConnection(
  tx: Tx,
  one: ConnectionKey,
  restrictions: AccountRestrictions,
  now: Date,
): Promise<void> {
  let newReasons: string[] = []
  await changeHolds(tx, one, ({ holds }) => {
    const change = applyRestrictions(holds, restrictions, now)
    newReasons = change.newReasons
    return change.holds
  })
  await notifyMembers(tx, one, newReasons, now)
}

/** Notifies all members about a working connection, with reasons that have advice. */
export async function notifyMembers(tx: Tx, one: ConnectionKey, reasons: readonly string[], now: Date): Promise<void> {
  const actor = { type: 'system', id: null } as const
  const about = { kind: 'connection', userId: null, connectionId: one.id, actor } as const
  const notifications = reasons.map((reason) => ({ ...about, cause: newId(now), reason }))
  await recordNotifications(tx, one.workspaceId, notifications, now)
}
