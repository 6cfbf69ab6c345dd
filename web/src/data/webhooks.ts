import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, type ResponseOf, type Schemas } from '../api/client.ts'
import { pagedBy } from '../api/paged-by.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/webhooks'
const onePath = `${path}/{endpointId}` as const
const eventsPath = '/api/team/v1/workspaces/{workspaceId}/webhook-events'

export type Endpoint = Schemas['WebhookEndpoint']
export type Delivery = Schemas['WebhookDelivery']
export type Replay = Schemas['WebhookReplay']
export type EventName = Delivery['event']
export type EventPattern = Endpoint['events'][number]
export type DeliveryState = Delivery['state']

/** Loaded pages of a list, as cached. */
export interface DeliveryPages {
  pages: { deliveries: Delivery[]; nextCursor: string | null }[]
  pageParams: unknown[]
}

export type DeliveryDetail = ResponseOf<`${typeof onePath}/deliveries/{eventId}`>['delivery']
export type Stats = ResponseOf<`${typeof onePath}/stats`>

export interface DeliveryFilter {
  state: DeliveryState | null
  event: EventName | null
  /** Id of an event, lead or conversation. */
  about: string | null
  /** Response to the last attempt: `500`, `5xx` or `none`. */
  response: string | null
}

export interface EndpointSettings {
  url: string
  events: EventPattern[]
  phoneVisibility: 'full' | 'masked'
  description: string | null
  /** Unchanged if omitted. */
  headers?: Record<string, string>
}

export const queryKeys = {
  all: (workspaceId: string) => [workspaceId, 'webhooks'] as const,
  list: (workspaceId: string) => [workspaceId, 'webhooks', 'list'] as const,
  deliveries: (workspaceId: string, endpointId: string) => [workspaceId, 'webhooks', endpointId, 'deliveries'] as const,
  delivery: (workspaceId: string, endpointId: string, eventId: string) =>
    [workspaceId, 'webhooks', endpointId, 'delivery', eventId] as const,
  stats: (workspaceId: string, endpointId: string) => [workspaceId, 'webhooks', endpointId, 'stats'] as const,
  replays: (workspaceId: string, endpointId: string) => [workspaceId, 'webhooks', endpointId, 'replays'] as const,
}

export function useEndpoints(workspaceId: string) {
  return useQuery({
    queryKey: queryKeys.list(workspaceId),
    queryFn: async () => (await api.GET(path, { workspaceId })).endpoints,
  })
}

export function useEventCatalog(workspaceId: string) {
  return useQuery({
    queryKey: [...queryKeys.all(workspaceId), 'events'],
    queryFn: async () => (await api.GET(eventsPath, { workspaceId })).events,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

export function readDeliveries(
  workspaceId: string,
  endpointId: string,
  { state, event, about, response }: DeliveryFilter,
  cursor: string | null,
) {
  const query = { limit: 50, state, event, about, answer: response, cursor }
  return api.GET(`${onePath}/deliveries`, { workspaceId, endpointId, query })
}

export function useDeliveries(workspaceId: string, endpointId: string, filter: DeliveryFilter) {
  return useInfiniteQuery({
    queryKey: [...queryKeys.deliveries(workspaceId, endpointId), filter],
    queryFn: ({ pageParam }) => readDeliveries(workspaceId, endpointId, filter, pageParam),
    ...pagedBy('nextCursor'),
  })
}

export function useDelivery(workspaceId: string, endpointId: string, eventId: string) {
  return useQuery({
    queryKey: queryKeys.delivery(workspaceId, endpointId, eventId),
    queryFn: async () =>
      (await api.GET(`${onePath}/deliveries/{eventId}`, { workspaceId, endpointId, eventId })).delivery,
  })
}

export function useStats(workspaceId: string, endpointId: string, hours: number) {
  return useQuery({
    queryKey: [...queryKeys.stats(workspaceId, endpointId), hours],
    queryFn: () => api.GET(`${onePath}/stats`, { workspaceId, endpointId, query: { hours } }),
  })
}

export function useReplays(workspaceId: string, endpointId: string) {
  return useQuery({
    queryKey: queryKeys.replays(workspaceId, endpointId),
    queryFn: async () => (await api.GET(`${onePath}/replays`, { workspaceId, endpointId })).replays,
  })
}

export const createEndpoint = (workspaceId: string, body: EndpointSettings) => api.POST(path, { workspaceId, body })

export const changeEndpoint = (workspaceId: string, endpointId: string, body: EndpointSettings) =>
  api.PATCH(onePath, { workspaceId, endpointId, body })

export const removeEndpoint = (workspaceId: string, endpointId: string) =>
  api.DELETE(onePath, { workspaceId, endpointId })

export const enableEndpoint = (workspaceId: string, endpointId: string, sendSince: string | null) =>
  api.POST(`${onePath}/enable`, { workspaceId, endpointId, body: sendSince === null ? {} : { sendSince } })

export const disableEndpoint = (workspaceId: string, endpointId: string) =>
  api.POST(`${onePath}/disable`, { workspaceId, endpointId })

export const rotateSecret = (workspaceId: string, endpointId: string, overlapHours: number) =>
  api.POST(`${onePath}/rotate-secret`, { workspaceId, endpointId, body: { overlapHours } })

export const sendTest = async (workspaceId: string, endpointId: string, event: EventName): Promise<string> =>
  (await api.POST(`${onePath}/test`, { workspaceId, endpointId, body: { event } })).delivery.eventId

export const resend = (workspaceId: string, endpointId: string, eventId: string) =>
  api.POST(`${onePath}/deliveries/{eventId}/resend`, { workspaceId, endpointId, eventId })

export const replay = (
  workspaceId: string,
  endpointId: string,
  body: { from: string; to?: string; scope: 'undelivered' | 'all' },
) => api.POST(`${onePath}/replays`, { workspaceId, endpointId, body })
