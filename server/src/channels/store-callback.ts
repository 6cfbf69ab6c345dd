import type { Clock } from '../base/clock.ts'
import { type Db, harmless } from '../base/db.ts'
import { unavailable } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Vault } from '../base/sealing/vault.ts'
import type { CallbackConnections } from './callback-connections.ts'
import type { ChannelEvent, Parsed, Receive } from './channel-event.ts'
import type { StoredConnection } from './connection/connection.ts'
import { markOnPhone } from './connection/queries.ts'
import { isWorthNoting, noteActivity } from './health/activity.ts'
import { lagOf } from './lag.ts'

export interface CallbackDeps {
  db: Db
  vault: Vault
  clock: Clock
  log: Log
  receive: Receive
  connections: CallbackConnections
}

export interface Routed {
  /** The events of each connection, in the platform's order. */
  deliveries: Map<StoredConnection, ChannelEvent[]>
  /** Items of numbers and accounts that none of the connections is for. */
  strays: number
}

const retryAfterSeconds = 5

/** Reads a callback by the rules of its channel; what is no JSON holds nothing. */
export function readCallback(body: Buffer, now: Date, parse: (payload: unknown, now: Date) => Parsed): Parsed {
  try {
    return parse(JSON.parse(body.toString('utf8')), now)
  } catch {
    return { items: [], skipped: ['not JSON'] }
  }
}

/**
 * Takes what a callback holds, which is known to come from the platform: resolves when all of it is committed. Throws 503
 * when it could not be, so that the platform sends it again.
 */
export async function storeCallback(
  deps: CallbackDeps,
  called: StoredConnection,
  parsed: Parsed,
  routed: Routed,
): Promise<void> {
  const { workspaceId, id: connectionId } = called
  noteRest(deps, called, parsed, routed)
  try {
    for (const [connection, events] of routed.deliveries) await deps.receive(connection, events)
    await noteIncoming(deps, routed.deliveries)
    await noteOnPhone(deps, routed.deliveries)
  } catch (error) {
    deps.log.error('callback not stored', { workspaceId, connectionId }, error)
    throw unavailable('Not stored. Send it again.', undefined, retryAfterSeconds)
  }
}

// Only reasons are logged, each once: they are words of ours, without a value of the payload.
function noteRest(deps: CallbackDeps, called: StoredConnection, { skipped }: Parsed, { strays }: Routed): void {
  const fields = { workspaceId: called.workspaceId, connectionId: called.id }
  if (strays > 0) deps.log.warn('callback for a number that is not connected', { ...fields, count: strays })
  for (const reason of new Set(skipped)) {
    const count = skipped.filter((one) => one === reason).length
    deps.log.info('callback item passed over', { ...fields, code: reason, count })
  }
}

async function noteIncoming({ db, clock }: CallbackDeps, deliveries: Routed['deliveries']): Promise<void> {
  const now = clock.now()
  const quiet = [...deliveries].filter(([one]) => isWorthNoting(one.lastEventInAt, now))
  if (quiet.length === 0) return
  await db.tx(async (tx) => {
    for (const [one, events] of quiet) {
      await noteActivity(tx, one.workspaceId, one.id, 'in', now, lagOf(events, now))
    }
  }, harmless)
  // They are kept for the callbacks to come.
  for (const [one] of quiet) one.lastEventInAt = now
}

// Who types on the number's phone shows that there is one, whatever the platform said when the number was connected.
async function noteOnPhone({ db }: CallbackDeps, deliveries: Routed['deliveries']): Promise<void> {
  for (const [connection, events] of deliveries) {
    if (connection.isOnPhone || !events.some(({ type }) => type === 'echo')) continue
    await db.tx((tx) => markOnPhone(tx, connection.workspaceId, connection.id), harmless)
    connection.isOnPhone = true
  }
}
