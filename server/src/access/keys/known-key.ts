import { readLeadSettings } from '../../base/lead-settings.ts'
import { type AddressSet, addressSet, normalRange } from '../../base/outgoing/address.ts'
import type { Caller } from './caller.ts'
import type { KnownKeyRow } from './queries.ts'
import { isScope } from './scopes.ts'

/** What a node keeps of a key. Times, never answers: whether it has expired is asked at each request. */
export interface KnownKey {
  caller: Caller
  revoked: boolean
  /** When the shown value was, or will be, replaced for good. */
  validUntil: Date | null
  expiresAt: Date | null
  allowlist: Allowlist | null
}

export function knownKey(row: KnownKeyRow): KnownKey {
  // A scope that this release does not know grants nothing.
  const scopes = new Set(row.scopes.filter(isScope))
  return {
    caller: {
      workspaceId: row.workspace_id,
      keyId: row.id,
      keyName: row.name,
      scopes,
      connectionIds: row.connection_ids,
      phoneVisibility: row.phone_visibility,
      sendLimits: { unanswered: row.unanswered_sends, daily: row.daily_sends },
      workspace: {
        ...readLeadSettings(row),
        leadsEnabled: row.leads_enabled,
        inboxEnabled: row.inbox_enabled,
        inboxAvailable: row.inbox_available,
        hours: row.hours,
      },
      may: (scope) => scopes.has(scope),
    },
    revoked: row.revoked_at !== null,
    validUntil: row.valid_until,
    expiresAt: row.expires_at,
    allowlist: compileAllowlist(row.allowlist),
  }
}

/** Whether a key may be used from an address; null is an address that cannot be told. */
export type Allowlist = (address: string | null) => boolean

/** Compiles the entries of one key. No entries: any address, told or not. */
export function compileAllowlist(entries: readonly string[]): Allowlist | null {
  if (entries.length === 0) return null
  const ranges = entries.map((entry) => normalRange(entry)).filter((range) => range !== null)
  const contains: AddressSet = addressSet(ranges)
  return (address) => address !== null && contains(address)
}
