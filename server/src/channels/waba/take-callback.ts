import type { Called } from '../callback-routes.ts'
import { type CallbackDeps, readCallback, storeCallback } from '../store-callback.ts'
import { parse } from './read/parse.ts'
import { routeItems } from './route-items.ts'
import { isSignedBy } from './signature.ts'

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
