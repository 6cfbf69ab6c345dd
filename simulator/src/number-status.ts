import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp } from '../../server/src/base/route.ts'
import type { BusinessNumber } from './world.ts'

export const restrictionTypes = [
  'RESTRICTED_BIZ_INITIATED_MESSAGING',
  'RESTRICTED_CUSTOMER_INITIATED_MESSAGING',
  'RESTRICTED_ADD_PHONE_NUMBER_ACTION',
] as const
const capLevels = ['NONE', 'FIRST_WARNING', 'SECOND_WARNING', 'CAPPED'] as const

/** Status of a number that can be changed, in the platform's words. */
export const numberStatusFields = Type.Object({
  qualityRating: oneOf(['GREEN', 'YELLOW', 'RED', 'UNKNOWN'], { description: 'Quality of the number' }),
  messagingLimit: oneOf(['TIER_250', 'TIER_2K', 'TIER_10K', 'TIER_100K', 'TIER_UNLIMITED'], {
    description: 'Limit of the portfolio for messages outside the window',
  }),
  throughput: oneOf(['STANDARD', 'HIGH'], { description: 'Messages per second' }),
  nameStatus: oneOf(['APPROVED', 'PENDING_REVIEW', 'DECLINED', 'EXPIRED'], {
    description: 'Review of the display name',
  }),
  canSend: oneOf(['AVAILABLE', 'LIMITED', 'BLOCKED'], { description: 'Result of the health check' }),
  problem: Type.String({ maxLength: 1000, description: 'Why it cannot send everything; empty without a problem' }),
  restrictions: Type.Array(oneOf(restrictionTypes), {
    maxItems: restrictionTypes.length,
    description: 'What the platform does not let the account do, for a week; announced for all its numbers',
  }),
  newChatLevel: oneOf(capLevels, { description: 'Limit of a linked phone on new chats' }),
  newChatsUsed: Type.Integer({
    minimum: 0,
    maximum: 1000,
    description: 'New chats of 50 that a linked phone has used',
  }),
  newChatsLockedUntil: nullable(timestamp('Until when a linked phone cannot write to new people; null: it can')),
})
export type SimulatedStatus = Static<typeof numberStatusFields>

export const healthyStatus: SimulatedStatus = {
  qualityRating: 'GREEN',
  messagingLimit: 'TIER_2K',
  throughput: 'STANDARD',
  nameStatus: 'APPROVED',
  canSend: 'AVAILABLE',
  problem: '',
  restrictions: [],
  newChatLevel: 'NONE',
  newChatsUsed: 0,
  newChatsLockedUntil: null,
}

/** Fields of a number as the platform returns them. */
export const describeStatus = (number: BusinessNumber): Record<string, unknown> => ({
  quality_rating: number.qualityRating,
  whatsapp_business_manager_messaging_limit: number.messagingLimit,
  throughput: { level: number.throughput },
  name_status: number.nameStatus,
  health_status: healthOf(number),
})

/** Result of the platform's health check. */
export function healthOf({ numberId, accountId, canSend, problem }: BusinessNumber): object {
  const error = { error_code: 141_000, error_description: problem, possible_solution: 'Solve it on the platform.' }
  return {
    can_send_message: canSend,
    entities: [
      { entity_type: 'PHONE_NUMBER', id: numberId, can_send_message: 'AVAILABLE' },
      { entity_type: 'WABA', id: accountId, can_send_message: canSend, ...(problem !== '' && { errors: [error] }) },
    ],
  }
}
