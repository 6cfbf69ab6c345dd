import { type AddressSet, addressSet, normalRange } from '../../base/outgoing/address.ts'

/** Whether a key may be used from an address; null is an address that cannot be told. */
export type Allowlist = (address: string | null) => boolean

/** Compiles the entries of one key. No entries: any address, told or not. */
export function compileAllowlist(entries: readonly string[]): Allowlist | null {
  if (entries.length === 0) return null
  const ranges = entries.map((entry) => normalRange(entry)).filter((range) => range !== null)
  const contains: AddressSet = addressSet(ranges)
  return (address) => address !== null && contains(address)
}
