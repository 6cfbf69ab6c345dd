import type { DeliveryState, EventName } from '../data/webhooks.ts'
import { allEvents } from './event-choice.ts'

export const endpointViews = ['deliveries', 'charts', 'settings'] as const
export type EndpointView = (typeof endpointViews)[number]
export const deliveryStates: readonly DeliveryState[] = ['pending', 'delivered', 'failed', 'cancelled']
export const statHours = [24, 168, 720] as const

/** What the address of an endpoint's page says beside the endpoint. */
export interface EndpointSearch {
  view?: EndpointView
  state?: DeliveryState
  event?: EventName
  /** The event whose delivery is open. */
  delivery?: string
  hours?: (typeof statHours)[number]
}

/** Leaves out what nobody of us wrote. */
export function readEndpointSearch(raw: Record<string, unknown>): EndpointSearch {
  const view = endpointViews.find((one) => one === raw.view)
  const state = deliveryStates.find((one) => one === raw.state)
  const event = allEvents.find((one) => one === raw.event)
  const hours = statHours.find((one) => one === raw.hours)
  return {
    ...(view !== undefined && { view }),
    ...(state !== undefined && { state }),
    ...(event !== undefined && { event }),
    ...(typeof raw.delivery === 'string' && { delivery: raw.delivery }),
    ...(hours !== undefined && { hours }),
  }
}
