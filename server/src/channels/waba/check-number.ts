import type { Clock } from '../../base/clock.ts'
import type { WabaSettings } from '../connection.ts'
import { platformReason } from '../heed.ts'
import { fetchGraph } from './graph.ts'

export interface NumberToCheck {
  numberId: string
  settings: WabaSettings
}

/** Asks the platform for the number: null when it answers, else why it cannot be used. Never throws. */
export type CheckNumber = (number: NumberToCheck) => Promise<string | null>

export function checkNumberAt(clock: Clock): CheckNumber {
  return async ({ numberId, settings }) => {
    const fields = 'id,display_phone_number,verified_name,quality_rating'
    const answer = await fetchGraph(clock, settings, `${encodeURIComponent(numberId)}?fields=${fields}`)
    if (answer.ok) return null
    return /^\d+$/.test(answer.errorCode) ? platformReason(answer.errorCode) : 'unreachable'
  }
}
