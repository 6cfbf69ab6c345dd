import type { Drivers } from './driver.ts'
import { partnerDriver } from './partner/driver.ts'
import { sessionDriver } from './unofficial/driver.ts'
import type { SessionDeps } from './unofficial/session/change-session.ts'
import { wabaDriver } from './waba/driver.ts'
import type { Wire } from './waba/exchange.ts'

/** `publicUrl` is where platforms reach this service, without a trailing slash. */
export function openDrivers(deps: Wire & SessionDeps, publicUrl: string): Drivers {
  return { waba: wabaDriver(deps), partner: partnerDriver(deps, publicUrl), unofficial: sessionDriver(deps) }
}
