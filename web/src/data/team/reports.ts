import { type QueryClient, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, type ResponseOf, type Schemas } from '../../api/client.ts'
import { pagedBy } from '../../api/paged-by.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/reports'
const mailPath = `${path}/mails/{filterId}` as const
const freshMs = 30_000
/** How often an open report is read again, also while older records are being counted. */
const openMs = 60_000
const countingMs = 5_000

export type Report = ResponseOf<typeof path>
export type ReportGroups = ResponseOf<`${typeof path}/groups`>
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

export function useReport(workspaceId: string, filter: ReportFilter) {
  return useQuery({
    queryKey: [...reportKey(workspaceId), filter],
    queryFn: () => api.GET(path, { workspaceId, query: { ...filter } }),
    staleTime: freshMs,
    refetchInterval: ({ state }) => (state.data?.isComplete === false ? countingMs : openMs),
  })
}

/** Returns the numbers for each value of a dimension. */
export function useReportGroups(workspaceId: string, days: number, by: Dimension) {
  return useQuery({
    queryKey: [...reportKey(workspaceId), 'groups', days, by],
    queryFn: () => api.GET(`${path}/groups`, { workspaceId, query: { days, by } }),
    staleTime: freshMs,
  })
}

/** Returns what a number counts, newest first, page by page. */
export function useReportCounted(workspaceId: string, number: ReportNumber, filter: ReportFilter) {
  return useInfiniteQuery({
    queryKey: [...reportKey(workspaceId), 'counted', number, filter],
    queryFn: ({ pageParam: cursor }) =>
      api.GET(`${path}/counted`, { workspaceId, query: { ...filter, number, cursor } }),
    ...pagedBy('nextCursor'),
    staleTime: freshMs,
  })
}

const mailsKey = (workspaceId: string) => [workspaceId, 'report-mails'] as const

/** Returns the ids of the saved reports that the person gets every week. */
export function useReportMails(workspaceId: string): readonly string[] {
  const read = () => api.GET(`${path}/mails`, { workspaceId })
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
  await (isMailed ? api.PUT(mailPath, { workspaceId, filterId }) : api.DELETE(mailPath, { workspaceId, filterId }))
  await queries.invalidateQueries({ queryKey: mailsKey(workspaceId) })
}
