import { Button, Group } from '@mantine/core'
import { IconDownload, IconX } from '@tabler/icons-react'
import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Source } from '../data/leads.ts'
import { type Report, type ReportFilter, useReport } from '../data/team/reports.ts'
import { useWorkspace } from '../data/workspace.ts'
import { language, t } from '../text/index.ts'
import { BarChart } from '../ui/charts/BarChart.tsx'
import styles from '../ui/charts/Dashboard.module.css'
import { dayPoints } from '../ui/charts/day-points.ts'
import { LineChart } from '../ui/charts/LineChart.tsx'
import { saveCsv } from '../ui/csv.ts'
import { formatAmount } from '../ui/format/amount.ts'
import { formatCost } from '../ui/format/cost.ts'
import { formatDuration, unitOf } from '../ui/format/duration.ts'
import { statusName } from '../ui/format/lead-texts.ts'
import { formatDateTime, formatNumber, formatPercent } from '../ui/format/time.ts'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { Segments } from '../ui/page/Segments.tsx'
import { Table } from '../ui/page/Table.tsx'
import { useChangeSearch } from '../ui/use-newest-search.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { CountedPanel, type Listed } from './CountedPanel.tsx'
import { GroupTable } from './GroupTable.tsx'
import { useGroupNames } from './group-names.ts'
import { ReportFigures } from './ReportFigures.tsx'
import { csvRows } from './report-csv.ts'
import { SavedReports } from './SavedReports.tsx'
import { defaultDays, type ReportSearch, readReportSearch, reportDays } from './search.ts'

/** Numbers of conversations, agents, leads and costs over time. */
export function ReportsPage() {
  // The router keeps parameters that were dropped as invalid.
  const search = readReportSearch(useSearch({ from: '/w/$workspaceId/reports' }))
  const change = useChangeSearch(readReportSearch)
  const filter = filterOf(search)
  const query = useReport(useWorkspaceId(), filter)
  return (
    <>
      <PageHeader title={t.common.pages.reports} action={<CsvButton report={query.data} />}>
        <Segments
          label={t.home.span}
          data={reportDays.map((one) => ({ value: String(one), label: t.home.spans[one] }))}
          value={String(filter.days)}
          onChange={(chosen) => change((before) => readReportSearch({ ...before, days: Number(chosen) }))}
        />
      </PageHeader>
      <PageBody>
        <ChosenValue
          search={search}
          campaign={query.data?.campaign}
          clear={() => change(({ dimension: _, value: __, ...rest }) => rest)}
        />
        <QueryBoundary query={query} rows={8}>
          {(report) => <Overview report={report} search={search} filter={filter} />}
        </QueryBoundary>
      </PageBody>
    </>
  )
}

function filterOf({ days = defaultDays, dimension, value }: ReportSearch): ReportFilter {
  return { days, ...(dimension !== undefined && value !== undefined && { dimension, value }) }
}

/** To what the report is limited. */
interface ChosenValueProps {
  search: ReportSearch
  /** Its name, if it is one and loaded. */
  campaign: string | null | undefined
  clear(): void
}

function ChosenValue({ search: { dimension, value }, campaign, clear }: ChosenValueProps) {
  const nameOf = useGroupNames(useWorkspaceId())
  if (dimension === undefined || value === undefined) return null
  return (
    <Group mb="md" gap="sm">
      <strong>
        {t.reports.only({ kind: t.reports.dimensions[dimension], name: campaign ?? nameOf(dimension, value) })}
      </strong>
      <Button variant="default" size="xs" leftSection={<IconX size={14} />} onClick={clear}>
        {t.reports.all}
      </Button>
    </Group>
  )
}

function Overview({ report, search, filter }: { report: Report; search: ReportSearch; filter: ReportFilter }) {
  const [listed, setListed] = useState<Listed | null>(null)
  const change = useChangeSearch(readReportSearch)
  const texts = t.reports
  const { days } = filter
  return (
    <>
      <div className={styles.page}>
        {!report.isComplete && <p className={styles.notice}>{texts.counting}</p>}
        <ReportFigures report={report} days={days} open={(number) => setListed({ number, filter })} />
        <ReportCharts report={report} />
        <LeadStatuses report={report} filter={filter} />
        <GroupTable
          by={search.by ?? 'connection'}
          days={days}
          changeBy={(by) => change((before) => ({ ...before, by }), { replace: true })}
          choose={(dimension, value) => change((before) => ({ ...before, dimension, value }))}
          open={(number, dimension, value) => setListed({ number, filter: { days, dimension, value } })}
        />
        <SavedReports search={search} show={(saved) => change(() => saved)} />
        <p className={styles.muted}>
          {texts.help({ zone: report.timeZone })}{' '}
          {report.countedAt !== null && texts.countedAt({ when: formatDateTime(report.countedAt) })}
        </p>
      </div>
      {listed !== null && <CountedPanel {...listed} close={() => setListed(null)} />}
    </>
  )
}

function CsvButton({ report }: { report: Report | undefined }) {
  const { csv } = t.reports
  return (
    <Button
      variant="default"
      leftSection={<IconDownload size={16} />}
      disabled={report === undefined}
      onClick={() => report !== undefined && saveCsv(csv.file, csvRows(report))}
    >
      {csv.label}
    </Button>
  )
}

/** What became of the leads of the period. Each number opens these leads. */
function LeadStatuses({ report, filter }: { report: Report; filter: ReportFilter }) {
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
            cell: ({ count }) => formatPercent(count / Math.max(1, report.counts.leads.now)),
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

/** Conversations, answers, leads and costs by day. */
function ReportCharts({ report: { days, cost, costCurrency } }: { report: Report }) {
  const { charts, numbers } = t.reports
  const points = dayPoints(days.map(({ date }) => date))
  const medians = (by: 'medianOfPeople' | 'medianOfAgents') => days.map((day) => day[by])
  const longest = Math.max(0, ...[...medians('medianOfPeople'), ...medians('medianOfAgents')].map((one) => one ?? 0))
  return (
    <>
      <div className={styles.card}>
        <LineChart
          label={charts.conversations}
          points={points}
          series={[
            { label: numbers.new, tone: 'accent', values: days.map((day) => day.new) },
            { label: numbers.closed, tone: 'good', values: days.map((day) => day.closed), isDashed: true },
            { label: numbers.reopened, tone: 'attention', values: days.map((day) => day.reopened) },
          ]}
          format={formatNumber}
        />
      </div>
      <div className={styles.card} data-part="6">
        <BarChart
          label={charts.answers}
          points={points}
          series={[
            { label: charts.people, tone: 'accent', values: days.map((day) => day.answersOfPeople) },
            { label: charts.agents, tone: 'agent', values: days.map((day) => day.answersOfAgents) },
          ]}
          format={formatNumber}
        />
      </div>
      <div className={styles.card} data-part="6">
        <LineChart
          label={charts.answerTimes}
          points={points}
          series={[
            { label: charts.people, tone: 'accent', values: medians('medianOfPeople') },
            { label: charts.agents, tone: 'agent', values: medians('medianOfAgents'), isDashed: true },
          ]}
          format={(seconds) => formatDuration(seconds, language)}
          unit={unitOf(longest)}
        />
      </div>
      <div className={styles.card} data-part="6">
        <BarChart
          label={charts.leads}
          points={points}
          series={[
            { label: numbers.leads_won, tone: 'good', values: days.map((day) => day.leadsWon) },
            { label: charts.otherLeads, tone: 'c8', values: days.map((day) => day.leads - day.leadsWon) },
          ]}
          format={formatNumber}
        />
      </div>
      {cost !== null && costCurrency !== null && (
        <div className={styles.card} data-part="6">
          <BarChart
            label={charts.cost}
            points={points}
            series={[{ label: t.reports.cost, tone: 'accent', values: days.map((day) => Number(day.cost ?? 0)) }]}
            format={(value) => formatCost(String(value), costCurrency)}
          />
        </div>
      )}
    </>
  )
}
