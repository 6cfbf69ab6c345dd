import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useOnStreamOpen } from '../api/live.ts'
import { refetchQueries } from '../api/refetch.ts'
import { eventNameValues } from '../api/schema.ts'
import {
  type DeliveryFilter,
  type DeliveryPages,
  type Endpoint,
  queryKeys,
  readDeliveries,
  useDelivery,
} from '../data/webhooks.ts'
import { useAfterEvents } from '../ui/use-after-events.ts'
import { deliveriesOf, mergeNewestPage } from './delivery-pages.ts'
import { dueNow, earliest, maxPollMs, nextPollMs } from './status.ts'

/**
 * Calls `refresh` when events are old enough to be delivered, once for several; and when the stream opens, since
 * earlier deliveries were not announced.
 */
export function useAfterDeliveries(waitMs: number, refresh: () => void): void {
  useAfterEvents(eventNameValues, waitMs, refresh)
  useOnStreamOpen(refresh)
}

/** Calls `refresh` after something is due, and again at growing intervals until it changes. */
export function useWhenDue(due: string | null, refresh: () => void): void {
  const latest = useRef(refresh)
  latest.current = refresh
  useEffect(() => {
    const firstMs = nextPollMs(due, Date.now())
    if (firstMs === null) return
    let timer: ReturnType<typeof setTimeout>
    const wait = (ms: number) => {
      timer = setTimeout(() => {
        latest.current()
        wait(Math.min(2 * ms, maxPollMs))
      }, ms)
    }
    wait(firstMs)
    return () => clearTimeout(timer)
  }, [due])
}

/** Keeps the endpoints of a page fresh. */
export function useLiveEndpoints(workspaceId: string, endpoints: readonly Endpoint[] | undefined): void {
  const queries = useQueryClient()
  const refresh = () => void refetchQueries(queries, queryKeys.list(workspaceId))
  useAfterDeliveries(1000, refresh)
  useWhenDue(earliest((endpoints ?? []).filter(hasMore).map(({ health }) => health.nextAttemptAt ?? dueNow)), refresh)
}

/** Loads a delivery and refetches it until it is final. Calls `changed` on changes. */
export function useLiveDelivery(workspaceId: string, endpointId: string, eventId: string, changed: () => void) {
  const query = useDelivery(workspaceId, endpointId, eventId)
  const latest = useRef(changed)
  latest.current = changed
  useWhenDue(query.data?.state === 'pending' ? (query.data.nextAttemptAt ?? dueNow) : null, () => void query.refetch())
  const version = query.data && `${query.data.state} ${query.data.attempts}`
  useEffect(() => {
    if (version !== undefined) latest.current()
  }, [version])
  return query
}

/** Keeps the newest deliveries of a list fresh, along with the loaded older ones. */
export function useLiveDeliveries(
  workspaceId: string,
  endpointId: string,
  filter: DeliveryFilter,
  pages: DeliveryPages | undefined,
): () => Promise<void> {
  const queries = useQueryClient()
  const requests = useRef({ begun: 0, shown: 0 })
  const refresh = async () => {
    const key = [...queryKeys.deliveries(workspaceId, endpointId), filter]
    const number = ++requests.current.begun
    const newest = await readDeliveries(workspaceId, endpointId, filter, null).catch(() => null)
    // A later request may have been answered first.
    if (newest === null || number < requests.current.shown) return
    requests.current.shown = number
    queries.setQueryData<DeliveryPages>(key, (before) => before && mergeNewestPage(before, newest))
  }
  useAfterDeliveries(1000, () => void refresh())
  const pending = deliveriesOf(pages).filter(({ state }) => state === 'pending')
  useWhenDue(earliest(pending.map(({ nextAttemptAt }) => nextAttemptAt ?? dueNow)), () => void refresh())
  return refresh
}

const hasMore = ({ state, health }: Endpoint): boolean => state === 'active' && health.waiting > 0
