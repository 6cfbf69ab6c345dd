import type { WabaSettings } from '../connection.ts'
import { platformReason } from '../heed.ts'
import type { Wire } from './exchange.ts'
import { fetchGraph } from './graph.ts'
import { objectOf } from './json.ts'

export interface NumberToCheck {
  numberId: string
  settings: WabaSettings
}

/** What the platform says of a number: a reason why it cannot be used, or that it can, and whether a phone has it too. */
export type CheckedNumber = { problem: string } | { problem: null; isOnPhone: boolean }

/** Asks the platform for the number. Never throws. */
export type CheckNumber = (number: NumberToCheck) => Promise<CheckedNumber>

export function checkNumberAt(wire: Wire): CheckNumber {
  return async ({ numberId, settings }) => {
    const fields = 'id,display_phone_number,verified_name,quality_rating,is_on_biz_app,platform_type'
    const answer = await fetchGraph(wire, settings, `${encodeURIComponent(numberId)}?fields=${fields}`)
    if (!answer.ok)
      return { problem: /^\d+$/.test(answer.errorCode) ? platformReason(answer.errorCode) : 'unreachable' }
    const { is_on_biz_app, platform_type } = objectOf(answer.body)
    return { problem: null, isOnPhone: is_on_biz_app === true && platform_type === 'CLOUD_API' }
  }
}
