import { deliveryStateValues } from '../api/schema.ts'
import type { DeliveryState, EventName } from '../data/webhooks.ts'
import { allEvents } from './event-choice.ts'

export const endpointViews = ['deliveries', 'charts', 'settings'] as const
export type EndpointView = (typeof endpointViews)[number]
export const deliveryStates: readonly DeliveryState[] = deliveryStateValues
export const statHours = [24, 168, 720] as const

/** Query parameters of an endpoint's page. */
export interface EndpointSearch {
  view?: EndpointView
  state?: DeliveryState
  event?: EventName
  /** Search text: an id, or a response status. */
  find?: string
  /** Event of the open delivery. */
  delivery?: string
  hours?: (typeof statHours)[number]
}

/** Drops invalid parameters. */
export function readEndpointSearch(raw: Record<string, unknown>): EndpointSearch {
  const view = endpointViews.find((one) => one === raw.view)
  const state = deliveryStates.find((one) => one === raw.state)
  const event = allEvents.find((one) => one === raw.event)
  const hours = statHours.find((one) => one === raw.hours)
  return {
    ...(view !== undefined && { view }),
    ...(state !== undefined && { state }),
    ...(event !== undefined && { event }),
    ...(raw.find !== undefined && parseDeliverySearch(String(raw.find)) !== null && { find: String(raw.find) }),
    ...(typeof raw.delivery === 'string' && { delivery: raw.delivery }),
    ...(hours !== undefined && { hours }),
  }
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const answer = /^([1-5][0-9]{2}|[1-5]xx|none)$/

/** Parses a search text; null if it is invalid. */
export function parseDeliverySearch(text: string): { about: string } | { response: string } | null {
  const typed = text.trim().toLowerCase()
  if (uuid.test(typed)) return { about: typed }
  return answer.test(typed) ? { response: typed } : null
}
