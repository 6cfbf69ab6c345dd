import type { Platform } from '../platform.ts'
import type { Device, Entry } from './network.ts'
import { hand } from './socket.ts'

const heldForMs = 1_000

/**
 * Tells every device of a phone, now or when it is back; `except` knows already. The knobs of deliveries let it come more than
 * once, and in another order.
 */
export function tellDevices(
  platform: Platform,
  devices: readonly Device[],
  event: string,
  data: unknown,
  { except = null, onTaken = () => {} }: { except?: Device | null; onTaken?: () => void } = {},
): void {
  const { linked, courier, agenda } = platform
  const { reorder } = courier.knobs
  for (const device of devices) {
    if (device !== except) linked.held.push([device, { event, data, onTaken }])
  }
  if (linked.held.length >= reorder) letGo(platform)
  else if (linked.held.length > 0) {
    linked.dropTimer()
    linked.dropTimer = agenda.after(heldForMs, () => letGo(platform))
  }
}

function letGo({ linked, courier }: Platform): void {
  linked.dropTimer()
  const { reorder, duplicates } = courier.knobs
  const held = linked.held.splice(0)
  for (const [device, entry] of reorder > 1 ? held.reverse() : held) {
    for (let copy = 0; copy <= duplicates; copy += 1) hand(device, copyOf(entry))
  }
}

// Each is acknowledged by itself.
const copyOf = (entry: Entry): Entry => ({ ...entry })
