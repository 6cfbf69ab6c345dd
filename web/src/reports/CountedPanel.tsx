import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type ReportFilter, type ReportNumber, useReportCounted } from '../data/team/reports.ts'
import { language, t } from '../text/index.ts'
import { formatDuration } from '../ui/format/duration.ts'
import { formatDateTime } from '../ui/format/time.ts'
import { MoreButton } from '../ui/page/MoreButton.tsx'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { SidePanel } from '../ui/page/SidePanel.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

/** What a panel lists. */
export interface Listed {
  number: ReportNumber
  filter: ReportFilter
}

/** The conversations or leads that a number counts. */
export function CountedPanel({ number, filter, close }: Listed & { close(): void }) {
  const workspaceId = useWorkspaceId()
  const query = useReportCounted(workspaceId, number, filter)
  const texts = t.reports
  const title = texts.numbers[number]
  return (
    <SidePanel title={title} close={close}>
      <QueryBoundary query={query} rows={6}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items)
          const hasTimes = items.some(({ seconds }) => seconds !== null)
          return items.length === 0 ? (
            <p>{texts.nothing}</p>
          ) : (
            <Table label={title} columns={columns(workspaceId, hasTimes)} rows={items} keyOf={({ id }) => id} />
          )
        }}
      </QueryBoundary>
      <MoreButton query={query}>{texts.more}</MoreButton>
    </SidePanel>
  )
}

type Item = NonNullable<ReturnType<typeof useReportCounted>['data']>['pages'][number]['items'][number]

function columns(workspaceId: string, hasTimes: boolean): Column<Item>[] {
  const texts = t.reports
  const pathOf = ({ conversationId, leadId }: Item) =>
    conversationId !== null
      ? `/w/${workspaceId}/inbox/${conversationId}`
      : leadId !== null && `/w/${workspaceId}/leads/${leadId}`
  return [
    {
      key: 'name',
      title: texts.name,
      cell: (item) => {
        const to = pathOf(item)
        if (to === false) return texts.erased
        return (
          <Anchor component={Link} to={to} size="sm">
            {item.name || t.inbox.noName}
          </Anchor>
        )
      },
    },
    ...(hasTimes
      ? [
          {
            key: 'time',
            title: texts.time,
            numeric: true,
            whole: true,
            cell: ({ seconds }: Item) => (seconds === null ? '–' : formatDuration(seconds, language)),
          },
        ]
      : []),
    { key: 'at', title: texts.when, whole: true, cell: ({ at }) => formatDateTime(at) },
  ]
}
