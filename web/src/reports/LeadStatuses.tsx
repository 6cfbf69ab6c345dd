import { Link } from '@tanstack/react-router'
import type { Source } from '../data/leads.ts'
import type { Report, ReportFilter } from '../data/team/reports.ts'
import { useWorkspace } from '../data/workspace.ts'
import { t } from '../text/index.ts'
import styles from '../ui/charts/Dashboard.module.css'
import { formatAmount } from '../ui/format/amount.ts'
import { statusName } from '../ui/format/lead-texts.ts'
import { formatNumber } from '../ui/format/time.ts'
import { Table } from '../ui/page/Table.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

/** What became of the leads of the period. Each number opens these leads. */
export function LeadStatuses({ report, filter }: { report: Report; filter: ReportFilter }) {
  const workspaceId = useWorkspaceId()
  const { data: workspace } = useWorkspace(workspaceId)
  const texts = t.reports
  const order = workspace?.leadStatuses ?? []
  const place = (status: string) => (order.includes(status) ? order.indexOf(status) : order.length)
  const rows = report.leads.toSorted((a, b) => place(a.status) - place(b.status))
  const { dimension, value } = filter
  const search = (status: string) => ({
    ...{ status, createdFrom: report.from, createdTo: report.to },
    ...(dimension === 'source' && { source: value as Source }),
    ...(dimension === 'person' && { assignee: value }),
  })
  if (rows.length === 0) return null
  return (
    <section className={styles.card} aria-label={texts.statuses}>
      <h2 className={styles.title}>{texts.statuses}</h2>
      <Table
        label={texts.statuses}
        rows={rows}
        keyOf={({ status }) => status}
        columns={[
          { key: 'status', title: texts.status, cell: ({ status }) => statusName(status) },
          {
            key: 'count',
            title: t.common.pages.leads,
            numeric: true,
            cell: ({ status, count }) => (
              <Link to="/w/$workspaceId/leads" params={{ workspaceId }} search={search(status)}>
                {formatNumber(count)}
              </Link>
            ),
          },
          {
            key: 'share',
            title: texts.share,
            numeric: true,
            cell: ({ count }) =>
              formatNumber(count / Math.max(1, report.counts.leads.now), {
                style: 'percent',
                maximumFractionDigits: 0,
              }),
          },
          {
            key: 'amount',
            title: texts.value,
            numeric: true,
            whole: true,
            cell: ({ amount }) => formatAmount(Number(amount), report.currency),
          },
        ]}
      />
    </section>
  )
}
