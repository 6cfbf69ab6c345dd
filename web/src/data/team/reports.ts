import { type QueryClient, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../../api/client.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/reports'
const mailPath = `${path}/mails/{filterId}` as const
const freshMs = 30_000
/** How often an open report is read again, also while older records are being counted. */
const openMs = 60_000
const countingMs = 5_000

export type Report = Awaited<ReturnType<typeof readReport>>
export type ReportGroups = Awaited<ReturnType<typeof readGroups>>
export type ReportGroup = ReportGroups['groups'][number]
export type ReportNumber = Schemas['ReportNumber']
export type Dimension = Schemas['ReportDimension']

/** Days of a report, and one value of a dimension. */
export interface ReportFilter {
  days: number
  dimension?: Dimension
  value?: string
}

const reportKey = (workspaceId: string) => [workspaceId, 'reports'] as const
const at = (workspaceId: string) => ({ path: { workspaceId } })

const readReport = (workspaceId: string, filter: ReportFilter) =>
  unwrap(api.GET(path, { params: { ...at(workspaceId), query: { ...filter } } }))

const readGroups = (workspaceId: string, days: number, by: Dimension) =>
  unwrap(api.GET(`${path}/groups`, { params: { ...at(workspaceId), query: { days, by } } }))

export function useReport(workspaceId: string, filter: ReportFilter) {
  return useQuery({
    queryKey: [...reportKey(workspaceId), filter],
    queryFn: () => readReport(workspaceId, filter),
    staleTime: freshMs,
    refetchInterval: ({ state }) => (state.data?.isComplete === false ? countingMs : openMs),
  })
}

/** Returns the numbers for each value of a dimension. */
export function useReportGroups(workspaceId: string, days: number, by: Dimension) {
  return useQuery({
    queryKey: [...reportKey(workspaceId), 'groups', days, by],
    queryFn: () => readGroups(workspaceId, days, by),
    staleTime: freshMs,
  })
}

/** Returns what a number counts, newest first, page by page. */
export function useReportCounted(workspaceId: string, number: ReportNumber, filter: ReportFilter) {
  return useInfiniteQuery({
    queryKey: [...reportKey(workspaceId), 'counted', number, filter],
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET(`${path}/counted`, {
          params: {
            ...at(workspaceId),
            query: { ...filter, number, ...(pageParam !== null && { cursor: pageParam }) },
          },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    staleTime: freshMs,
  })
}

const mailsKey = (workspaceId: string) => [workspaceId, 'report-mails'] as const

/** Returns the ids of the saved reports that the person gets every week. */
export function useReportMails(workspaceId: string): readonly string[] {
  const read = () => unwrap(api.GET(`${path}/mails`, { params: at(workspaceId) }))
  return useQuery({ queryKey: mailsKey(workspaceId), queryFn: read }).data?.filterIds ?? none
}

const none: readonly string[] = []

/** Starts or stops the weekly mail of a saved report. */
export async function setReportMail(
  queries: QueryClient,
  workspaceId: string,
  filterId: string,
  isMailed: boolean,
): Promise<void> {
  const params = { params: { path: { workspaceId, filterId } } }
  await (isMailed ? unwrap(api.PUT(mailPath, params)) : unwrap(api.DELETE(mailPath, params)))
  await queries.invalidateQueries({ queryKey: mailsKey(workspaceId) })
}
