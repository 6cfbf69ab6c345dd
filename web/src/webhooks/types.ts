import type { components } from '../api/schema.ts'

type Schemas = components['schemas']

export type Endpoint = Schemas['Webhookendpoint']
export type Delivery = Schemas['Webhookdelivery']
export type Replay = Schemas['Webhookreplay']
export type EventName = Delivery['event']
export type EventPattern = Endpoint['events'][number]
export type DeliveryState = Delivery['state']

/** The pages of a list that were read so far, as the cache holds them. */
export interface DeliveryPages {
  pages: { deliveries: Delivery[]; nextCursor: string | null }[]
  pageParams: unknown[]
}
