import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/db.ts'
import { unavailable } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Vault } from '../../base/vault.ts'
import { isWorthNoting, noteActivity } from '../activity.ts'
import type { ChannelEvent, Parsed, Receive } from '../channel-event.ts'
import type { StoredWaba } from '../connection.ts'
import { lagOf } from '../lag.ts'
import { markOnPhone } from '../queries.ts'
import { parse } from './parse.ts'
import { type Routed, routeItems } from './route-items.ts'
import { isSignedBy } from './signature.ts'

export interface WebhookDeps {
  db: Db
  vault: Vault
  clock: Clock
  log: Log
  receive: Receive
}

/** The connection that the address names, and all that may share its callback. */
export interface CallbackConnections {
  called: StoredWaba
  all: StoredWaba[]
}

const retryAfterSeconds = 5

/**
 * Takes one callback: false when the called connection's app did not sign it, true once all of it is committed.
 * Throws 503 when it could not be, so that the platform sends it again.
 */
export async function takeCallback(
  deps: WebhookDeps,
  { called, all }: CallbackConnections,
  body: Buffer,
  signature: Buffer,
): Promise<boolean> {
  const { workspaceId, id: connectionId } = called
  if (!isSignedBy(called.settings.appSecret, body, signature)) {
    deps.log.warn('callback refused: signature', { workspaceId, connectionId })
    return false
  }
  // An app has one callback for all of its numbers; numbers of another app have another secret.
  const signed = all.filter((one) => one.settings.appSecret === called.settings.appSecret)
  const parsed = read(body, deps.clock.now())
  const routed = routeItems(signed, parsed.items)
  noteRest(deps, called, parsed, routed)
  try {
    for (const [connection, events] of routed.deliveries) await deps.receive(connection, events)
    await noteIncoming(deps, routed.deliveries)
    await noteOnPhone(deps, routed.deliveries)
  } catch (error) {
    deps.log.error('callback not stored', { workspaceId, connectionId }, error)
    throw unavailable('Not stored. Send it again.', undefined, retryAfterSeconds)
  }
  return true
}

function read(body: Buffer, now: Date): Parsed {
  try {
    return parse(JSON.parse(body.toString('utf8')), now)
  } catch {
    return { items: [], skipped: ['not JSON'] }
  }
}

// Only reasons are logged, each once: they are words of ours, without a value of the payload.
function noteRest(deps: WebhookDeps, called: StoredWaba, { skipped }: Parsed, { strays }: Routed): void {
  const fields = { workspaceId: called.workspaceId, connectionId: called.id }
  if (strays > 0) deps.log.warn('callback for a number that is not connected', { ...fields, count: strays })
  for (const reason of new Set(skipped)) {
    const count = skipped.filter((one) => one === reason).length
    deps.log.info('callback item passed over', { ...fields, code: reason, count })
  }
}

async function noteIncoming({ db, clock }: WebhookDeps, deliveries: Map<StoredWaba, ChannelEvent[]>): Promise<void> {
  const now = clock.now()
  const quiet = [...deliveries].filter(([one]) => isWorthNoting(one.lastEventInAt, now))
  if (quiet.length === 0) return
  await db.tx(async (tx) => {
    for (const [one, events] of quiet) {
      await noteActivity(tx, one.workspaceId, one.id, 'in', now, lagOf(events, now))
    }
  })
}

// Who types on the number's phone shows that there is one, whatever the platform said when the number was connected.
async function noteOnPhone({ db }: WebhookDeps, deliveries: Map<StoredWaba, ChannelEvent[]>): Promise<void> {
  for (const [connection, events] of deliveries) {
    if (connection.isOnPhone || !events.some(({ type }) => type === 'echo')) continue
    await db.tx((tx) => markOnPhone(tx, connection.workspaceId, connection.id))
  }
}
