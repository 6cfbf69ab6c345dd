import type { components } from '../api/schema.ts'

type Schemas = components['schemas']

export type Endpoint = Schemas['WebhookEndpoint']
export type Delivery = Schemas['WebhookDelivery']
export type Replay = Schemas['WebhookReplay']
export type EventName = Delivery['event']
export type EventPattern = Endpoint['events'][number]
export type DeliveryState = Delivery['state']

/** The pages of a list that were read so far, as the cache holds them. */
export interface DeliveryPages {
  pages: { deliveries: Delivery[]; nextCursor: string | null }[]
  pageParams: unknown[]
}
