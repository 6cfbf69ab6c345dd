import { Button, Group } from '@mantine/core'
import { IconDownload, IconX } from '@tabler/icons-react'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { type Report, type ReportFilter, useReport } from '../data/team/reports.ts'
import { t } from '../text/index.ts'
import dashboard from '../ui/charts/Dashboard.module.css'
import { saveCsv } from '../ui/csv.ts'
import { formatDateTime } from '../ui/format/time.ts'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { Segments } from '../ui/page/Segments.tsx'
import { useChangeSearch } from '../ui/use-newest-search.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { CountedPanel, type Listed } from './CountedPanel.tsx'
import { GroupTable } from './GroupTable.tsx'
import { useGroupNames } from './group-names.ts'
import { LeadStatuses } from './LeadStatuses.tsx'
import { ReportCharts } from './ReportCharts.tsx'
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
      <div className={dashboard.page}>
        {!report.isComplete && <p className={dashboard.notice}>{texts.counting}</p>}
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
        <p className={dashboard.muted}>
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
