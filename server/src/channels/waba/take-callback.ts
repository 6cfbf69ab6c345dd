import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Called } from '../callback-routes.ts'
import type { ChannelEvent, Delivered } from '../channel-event.ts'
import type { StoredConnection, StoredWaba } from '../connection/connection.ts'
import { type CallbackDeps, type Routed, readCallback, storeCallback } from '../store-callback.ts'
import { parse } from './read/parse.ts'

/**
 * Takes one callback: false when the called connection's app did not sign it, true once all of it is committed.
 * Throws 503 when it could not be, so that the platform sends it again.
 */
export async function takeCallback(
  deps: CallbackDeps,
  { called, all }: Called<'waba'>,
  body: Buffer,
  signature: Buffer,
): Promise<boolean> {
  if (!isSignedBy(called.settings.appSecret, body, signature)) {
    deps.log.warn('callback refused: signature', { workspaceId: called.workspaceId, connectionId: called.id })
    return false
  }
  // An app has one callback for all of its numbers; numbers of another app have another secret.
  const signed = all.filter((one) => one.settings.appSecret === called.settings.appSecret)
  const parsed = readCallback(body, deps.clock.now(), parse)
  await storeCallback(deps, called, parsed, routeItems(signed, parsed.items))
  return true
}

/** Gives each item to the connection of its number, or to every connection of its account. */
function routeItems(connections: readonly StoredWaba[], items: readonly Delivered[]): Routed {
  const deliveries = new Map<StoredConnection, ChannelEvent[]>()
  let strays = 0
  for (const { numberId, accountId, event } of items) {
    const receivers = connections.filter((one) =>
      numberId === null ? accountId !== null && one.accountId === accountId : one.numberId === numberId,
    )
    if (receivers.length === 0) strays++
    for (const receiver of receivers) {
      const events = deliveries.get(receiver)
      if (events === undefined) deliveries.set(receiver, [event])
      else events.push(event)
    }
  }
  return { deliveries, strays }
}

const shape = /^sha256=([0-9a-f]{64})$/

/** The digest that an `X-Hub-Signature-256` header carries; null when it is missing or malformed. */
export function readSignature(header: unknown): Buffer | null {
  const hex = typeof header === 'string' ? shape.exec(header)?.[1] : undefined
  return hex === undefined ? null : Buffer.from(hex, 'hex')
}

/** Whether this app secret signed these very bytes. A body that was parsed and written again has another signature. */
export function isSignedBy(appSecret: string, body: Uint8Array, signature: Buffer): boolean {
  if (appSecret === '') return false
  const expected = createHmac('sha256', appSecret).update(body).digest()
  return expected.length === signature.length && timingSafeEqual(expected, signature)
}
