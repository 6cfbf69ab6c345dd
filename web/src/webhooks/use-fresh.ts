import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useOnOpen } from '../api/live.ts'
import { readAgain } from '../api/read-again.ts'
import { eventNameValues } from '../api/schema.ts'
import {
  type DeliveryFilter,
  type DeliveryPages,
  type Endpoint,
  keysOf,
  readDeliveries,
  useDelivery,
} from '../data/webhooks.ts'
import { useAfterEvents } from '../ui/use-after-events.ts'
import { deliveriesOf, withFresh } from './pages.ts'
import { atOnce, earliest, latestMs, lookAgainMs } from './standing.ts'

/**
 * Calls `look` when an event has been there for long enough to be delivered, of many that come together once; and when the
 * stream opens, as deliveries of before it are told to nobody.
 */
export function useAfterDeliveries(waitMs: number, look: () => void): void {
  useAfterEvents(eventNameValues, waitMs, look)
  useOnOpen(look)
}

/** Calls `look` once what is due has had its time, and again at growing distances while nothing came of it. */
export function useWhenDue(due: string | null, look: () => void): void {
  const latest = useRef(look)
  latest.current = look
  useEffect(() => {
    const firstMs = lookAgainMs(due, Date.now())
    if (firstMs === null) return
    let timer: ReturnType<typeof setTimeout>
    const wait = (ms: number) => {
      timer = setTimeout(() => {
        latest.current()
        wait(Math.min(2 * ms, latestMs))
      }, ms)
    }
    wait(firstMs)
    return () => clearTimeout(timer)
  }, [due])
}

/** Keeps the endpoints of a page up to date. */
export function useFreshEndpoints(workspaceId: string, endpoints: readonly Endpoint[] | undefined): void {
  const queries = useQueryClient()
  const look = () => void readAgain(queries, keysOf.list(workspaceId))
  useAfterDeliveries(1000, look)
  useWhenDue(earliest((endpoints ?? []).filter(hasMore).map(({ health }) => health.nextAttemptAt ?? atOnce)), look)
}

/** A delivery, read until nothing more will come of it. Calls `changed` whenever something has. */
export function useFreshDelivery(workspaceId: string, endpointId: string, eventId: string, changed: () => void) {
  const query = useDelivery(workspaceId, endpointId, eventId)
  const latest = useRef(changed)
  latest.current = changed
  useWhenDue(query.data?.state === 'pending' ? (query.data.nextAttemptAt ?? atOnce) : null, () => void query.refetch())
  const sight = query.data && `${query.data.state} ${query.data.attempts}`
  useEffect(() => {
    if (sight !== undefined) latest.current()
  }, [sight])
  return query
}

/** Keeps the newest deliveries of a list up to date, whatever was read of the older ones. */
export function useFreshDeliveries(
  workspaceId: string,
  endpointId: string,
  filter: DeliveryFilter,
  pages: DeliveryPages | undefined,
): () => Promise<void> {
  const queries = useQueryClient()
  const looks = useRef({ begun: 0, shown: 0 })
  const look = async () => {
    const key = [...keysOf.deliveries(workspaceId, endpointId), filter]
    const number = ++looks.current.begun
    const fresh = await readDeliveries(workspaceId, endpointId, filter, null).catch(() => null)
    // An answer may be overtaken by that of a later look.
    if (fresh === null || number < looks.current.shown) return
    looks.current.shown = number
    queries.setQueryData<DeliveryPages>(key, (before) => before && withFresh(before, fresh))
  }
  useAfterDeliveries(1000, () => void look())
  const pending = deliveriesOf(pages).filter(({ state }) => state === 'pending')
  useWhenDue(earliest(pending.map(({ nextAttemptAt }) => nextAttemptAt ?? atOnce)), () => void look())
  return look
}

const hasMore = ({ state, health }: Endpoint): boolean => state === 'active' && health.waiting > 0
