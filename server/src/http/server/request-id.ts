import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../base/clock.ts'
import { newId } from '../../base/id.ts'

export const requestIdHeader = 'x-request-id'

/** The caller's own `x-request-id` when it is a plain token, so that it can follow a request through; else a new id. */
export function requestIdOf(request: IncomingMessage, clock: Clock): string {
  const given = request.headers[requestIdHeader]
  return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : newId(clock.now())
}
