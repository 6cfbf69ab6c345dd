import { devicesOf } from './linked/network.ts'
import { queueForDevices } from './linked/socket.ts'
import type { SimulatedStatus } from './number-status.ts'
import type { Platform } from './platform.ts'
import type { BusinessNumber } from './world.ts'

/** Announces a change of the status, as the platform and the network of linked devices do. */
export function announceStatus(platform: Platform, number: BusinessNumber, changed: Partial<SimulatedStatus>): void {
  if (number.network === 'linked') announceToDevices(platform, number, changed)
  else announceToAccount(platform, number, changed)
}

function announceToAccount(platform: Platform, number: BusinessNumber, changed: Partial<SimulatedStatus>): void {
  const { phone, messagingLimit, name, nameStatus } = number
  const send = (field: string, value: object) => platform.webhookSender.send(number, { field, value, isTimed: true })
  if (changed.qualityRating !== undefined || changed.messagingLimit !== undefined || changed.throughput !== undefined) {
    const event = changed.throughput === undefined ? 'UPGRADE' : 'THROUGHPUT_UPGRADE'
    send('phone_number_quality_update', {
      ...{ display_phone_number: phone, event, max_daily_conversations_per_business: messagingLimit },
    })
  }
  if (changed.restrictions !== undefined) announceRestrictions(platform, number)
  if (changed.nameStatus !== undefined) {
    const decision = nameStatus === 'PENDING_REVIEW' ? 'DEFERRED' : nameStatus
    send('phone_number_name_update', { display_phone_number: phone, decision, requested_verified_name: name })
  }
}

const restrictedMs = 7 * 86_400_000

/** Announces all current restrictions of the account, as the platform does with each change. */
function announceRestrictions({ clock, webhookSender }: Platform, number: BusinessNumber): void {
  const expiration = Math.floor((clock.now().getTime() + restrictedMs) / 1000)
  const value = {
    event: 'ACCOUNT_RESTRICTION',
    restriction_info: number.restrictions.map((restriction_type) => ({ restriction_type, expiration })),
  }
  webhookSender.send(number, { field: 'account_update', value, isTimed: true })
}

const newChatsTotal = 50
const cycleMs = 30 * 86_400_000

function announceToDevices(platform: Platform, number: BusinessNumber, changed: Partial<SimulatedStatus>): void {
  const { newChatLevel, newChatsUsed, newChatsLockedUntil } = number
  const devices = devicesOf(platform.linked, number.numberId)
  if (changed.newChatLevel !== undefined || changed.newChatsUsed !== undefined) {
    const endsAt = Math.floor((platform.clock.now().getTime() + cycleMs) / 1000)
    queueForDevices(platform, devices, 'message-capping.update', {
      ...{ capping_status: newChatLevel, used_quota: newChatsUsed, total_quota: newChatsTotal },
      cycle_end_timestamp: String(endsAt),
    })
  }
  if (changed.newChatsLockedUntil === undefined) return
  const isActive = newChatsLockedUntil !== null
  const reachoutTimeLock = { isActive, ...(isActive && { timeEnforcementEnds: newChatsLockedUntil }) }
  queueForDevices(platform, devices, 'connection.update', { reachoutTimeLock })
}
