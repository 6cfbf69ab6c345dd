import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../api/client.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/webhooks'
const onePath = `${path}/{endpointId}` as const

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

export type DeliveryDetail = Awaited<ReturnType<typeof readDelivery>>
export type Stats = Awaited<ReturnType<typeof readStats>>
export type Catalog = Awaited<ReturnType<typeof listEvents>>

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
    queryFn: async () => (await unwrap(api.GET(path, { params: { path: { workspaceId } } }))).endpoints,
  })
}

async function listEvents(workspaceId: string) {
  const response = await unwrap(
    api.GET('/api/team/v1/workspaces/{workspaceId}/webhook-events', { params: { path: { workspaceId } } }),
  )
  return response.events
}

export function useEventCatalog(workspaceId: string) {
  return useQuery({
    queryKey: [...queryKeys.all(workspaceId), 'events'],
    queryFn: () => listEvents(workspaceId),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

export function readDeliveries(
  workspaceId: string,
  endpointId: string,
  { state, event, about, response }: DeliveryFilter,
  cursor: string | null,
) {
  const query = {
    limit: 50,
    ...(state !== null && { state }),
    ...(event !== null && { event }),
    ...(about !== null && { about }),
    ...(response !== null && { answer: response }),
    ...(cursor !== null && { cursor }),
  }
  return unwrap(api.GET(`${onePath}/deliveries`, { params: { path: { workspaceId, endpointId }, query } }))
}

export function useDeliveries(workspaceId: string, endpointId: string, filter: DeliveryFilter) {
  return useInfiniteQuery({
    queryKey: [...queryKeys.deliveries(workspaceId, endpointId), filter],
    queryFn: ({ pageParam }) => readDeliveries(workspaceId, endpointId, filter, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
}

async function readDelivery(workspaceId: string, endpointId: string, eventId: string) {
  const response = await unwrap(
    api.GET(`${onePath}/deliveries/{eventId}`, { params: { path: { workspaceId, endpointId, eventId } } }),
  )
  return response.delivery
}

export function useDelivery(workspaceId: string, endpointId: string, eventId: string) {
  return useQuery({
    queryKey: queryKeys.delivery(workspaceId, endpointId, eventId),
    queryFn: () => readDelivery(workspaceId, endpointId, eventId),
  })
}

function readStats(workspaceId: string, endpointId: string, hours: number) {
  return unwrap(api.GET(`${onePath}/stats`, { params: { path: { workspaceId, endpointId }, query: { hours } } }))
}

export function useStats(workspaceId: string, endpointId: string, hours: number) {
  return useQuery({
    queryKey: [...queryKeys.stats(workspaceId, endpointId), hours],
    queryFn: () => readStats(workspaceId, endpointId, hours),
  })
}

export function useReplays(workspaceId: string, endpointId: string) {
  return useQuery({
    queryKey: queryKeys.replays(workspaceId, endpointId),
    queryFn: async () =>
      (await unwrap(api.GET(`${onePath}/replays`, { params: { path: { workspaceId, endpointId } } }))).replays,
  })
}

export function createEndpoint(workspaceId: string, settings: EndpointSettings) {
  return unwrap(api.POST(path, { params: { path: { workspaceId } }, body: settings }))
}

export function changeEndpoint(workspaceId: string, endpointId: string, settings: EndpointSettings) {
  return unwrap(api.PATCH(onePath, { params: { path: { workspaceId, endpointId } }, body: settings }))
}

export function removeEndpoint(workspaceId: string, endpointId: string) {
  return unwrap(api.DELETE(onePath, { params: { path: { workspaceId, endpointId } } }))
}

export function enableEndpoint(workspaceId: string, endpointId: string, sendSince: string | null) {
  const since = sendSince === null ? {} : { sendSince }
  return unwrap(api.POST(`${onePath}/enable`, { params: { path: { workspaceId, endpointId } }, body: since }))
}

export function disableEndpoint(workspaceId: string, endpointId: string) {
  return unwrap(api.POST(`${onePath}/disable`, { params: { path: { workspaceId, endpointId } } }))
}

export function rotateSecret(workspaceId: string, endpointId: string, overlapHours: number) {
  const params = { path: { workspaceId, endpointId } }
  return unwrap(api.POST(`${onePath}/rotate-secret`, { params, body: { overlapHours } }))
}

export async function sendTest(workspaceId: string, endpointId: string, event: EventName): Promise<string> {
  const params = { path: { workspaceId, endpointId } }
  return (await unwrap(api.POST(`${onePath}/test`, { params, body: { event } }))).delivery.eventId
}

export function resend(workspaceId: string, endpointId: string, eventId: string) {
  return unwrap(
    api.POST(`${onePath}/deliveries/{eventId}/resend`, { params: { path: { workspaceId, endpointId, eventId } } }),
  )
}

export function replay(
  workspaceId: string,
  endpointId: string,
  range: { from: string; to?: string; scope: 'undelivered' | 'all' },
) {
  return unwrap(api.POST(`${onePath}/replays`, { params: { path: { workspaceId, endpointId } }, body: range }))
}
