import type { Drivers } from './driver.ts'
import { partnerDriver } from './partner/driver.ts'
import { sessionDriver } from './unofficial/driver.ts'
import { wabaDriver } from './waba/driver.ts'
import type { Wire } from './waba/exchange.ts'

/** `publicUrl` is where platforms reach this service, without a trailing slash. */
export function openDrivers(wire: Wire, publicUrl: string): Drivers {
  return { waba: wabaDriver(wire), partner: partnerDriver(wire, publicUrl), unofficial: sessionDriver }
}
