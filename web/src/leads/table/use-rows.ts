import { useQueries, useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { type Lead, type LeadPage, type LeadQuery, pageOptions, pageSize } from '../../data/leads.ts'

export type LeadRows = ReturnType<typeof useLeadRows>

const prefetchRows = 40
const debounceMs = 40

/** Returns the rows around the visible ones. Old rows stay until the first new ones have loaded. */
export function useLeadRows(workspaceId: string, query: LeadQuery, first: number, end: number) {
  const start = useQuery(pageOptions(workspaceId, query, 0))
  const [shown, setShown] = useState(query)
  if (start.data !== undefined && shown !== query) setShown(query)
  const [from, to] = useDebounced(
    Math.floor(Math.max(0, first - prefetchRows) / pageSize),
    Math.floor((end + prefetchRows) / pageSize),
  )
  const numbers = useMemo(() => {
    const last = Math.max(0, Math.ceil((start.data?.total ?? 1) / pageSize) - 1)
    return Array.from({ length: Math.min(to, last) - Math.min(from, last) + 1 }, (_, n) => Math.min(from, last) + n)
  }, [from, to, start.data?.total])
  const combine = useCallback(
    (answers: { data?: LeadPage | undefined }[]) =>
      new Map(answers.flatMap(({ data }, n) => (data === undefined ? [] : [[numbers[n] ?? 0, data.leads] as const]))),
    [numbers],
  )
  const pages = useQueries({ queries: numbers.map((page) => pageOptions(workspaceId, shown, page)), combine })
  const opening = useQuery({ ...pageOptions(workspaceId, shown, 0), enabled: false }).data
  return {
    /** Undefined until loaded. */
    total: opening?.total,
    at: (index: number): Lead | undefined =>
      pages.get(Math.floor(index / pageSize))?.[index % pageSize] ?? opening?.leads[index],
    /** Index of a loaded lead; -1 otherwise. */
    indexOf: (id: string): number => {
      for (const [page, leads] of pages) {
        const n = leads.findIndex((lead) => lead.id === id)
        if (n !== -1) return page * pageSize + n
      }
      return -1
    },
    /** Whether the rows still belong to the previous query. */
    isOld: shown !== query,
    error: start.data === undefined ? start.error : null,
    retry: () => void start.refetch(),
  }
}

// Dragging the scroll thumb past thousands of pages loads only those where it stops.
function useDebounced(from: number, to: number): [number, number] {
  const [rested, setRested] = useState<[number, number]>([from, to])
  useEffect(() => {
    const timer = setTimeout(() => setRested([from, to]), debounceMs)
    return () => clearTimeout(timer)
  }, [from, to])
  return rested
}
