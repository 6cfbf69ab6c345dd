import type { ChannelEvent } from '../../channel-event.ts'
import { type Loose, objectOf, textOf, tokenOf } from '../json.ts'
import { readPhone, readUserId } from './customer.ts'
import type { Read, Reading } from './reading.ts'

const down = new Set(['PARTNER_REMOVED', 'ACCOUNT_OFFBOARDED', 'ACCOUNT_DELETED'])
const up = new Set(['ACCOUNT_RECONNECTED', 'PARTNER_ADDED', 'PARTNER_APP_INSTALLED'])

/** Whether the account of a connection can be used after an `account_update`; null when that says nothing about it. */
export function readAccountUpdate(value: Loose): Extract<ChannelEvent, { type: 'connection_state' }> | null {
  const event = textOf(value.event) ?? ''
  if (down.has(event)) return { type: 'connection_state', available: false, reason: event.toLowerCase() }
  if (up.has(event)) return { type: 'connection_state', available: true, reason: event.toLowerCase() }
  if (event !== 'DISABLED_UPDATE') return null
  const ban = textOf(objectOf(value.ban_info).waba_ban_state) ?? 'DISABLE'
  if (ban === 'REINSTATE') return { type: 'connection_state', available: true, reason: 'account_reinstated' }
  // Announced for later: until then the account works.
  return ban === 'SCHEDULE_FOR_DISABLE'
    ? null
    : { type: 'connection_state', available: false, reason: 'account_disabled' }
}

/** The account that an `account_update` is about, which is not always the one that the entry names. */
export function accountOf(value: Loose, entryId: string | null): string | null {
  return tokenOf(objectOf(value.waba_info).waba_id) ?? entryId
}

/** One of `value.state_sync`: the phone's contact book gained or lost a name. */
export function readContactSync(_reading: Reading, sync: Loose): Read {
  const { full_name, first_name, phone_number, user_id } = objectOf(sync.contact)
  const name = (textOf(full_name) ?? textOf(first_name))?.trim().slice(0, 255)
  const customer = {
    userId: readUserId(user_id),
    parentUserId: null,
    phone: readPhone(phone_number),
    name: name || null,
  }
  const isKnown = customer.userId !== null || customer.phone !== null
  if (sync.action === 'remove' || customer.name === null || !isKnown) return 'contact without a name'
  return { type: 'contact_named', customer }
}
