import { platformReason } from '../apply-platform-signal.ts'
import type { WabaConnection } from '../connection/connection.ts'
import type { CheckedNumber } from '../driver.ts'
import type { Wire } from './exchange.ts'
import { fetchGraph } from './graph.ts'
import { objectOf } from './json.ts'

/** Asks the platform for the number. Never throws. */
export type CheckNumber = (number: Pick<WabaConnection, 'numberId' | 'settings'>) => Promise<CheckedNumber>

export function checkNumberAt(wire: Wire): CheckNumber {
  return async ({ numberId, settings }) => {
    const fields = 'id,display_phone_number,verified_name,quality_rating,is_on_biz_app,platform_type'
    const answer = await fetchGraph(wire, settings, `${encodeURIComponent(numberId)}?fields=${fields}`)
    if (!answer.ok) return { problem: problemOf(answer.errorCode), number: null, isOnPhone: false }
    const { is_on_biz_app, platform_type } = objectOf(answer.body)
    return { problem: null, number: numberId, isOnPhone: is_on_biz_app === true && platform_type === 'CLOUD_API' }
  }
}

/** The reason of an unavailable connection whose platform answered with this code, or not at all. */
const problemOf = (errorCode: string): string => (/^\d+$/.test(errorCode) ? platformReason(errorCode) : 'unreachable')
