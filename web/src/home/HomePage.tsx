import { Anchor, Button, Group } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useSearch } from '@tanstack/react-router'
import { Suspense } from 'react'
import { type Stats, useStats } from '../data/stats.ts'
import { hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { saveCsv } from '../ui/csv.ts'
import { formatNumber } from '../ui/format/time.ts'
import { prefetchedComponent, useIsPainted } from '../ui/overlay/lazy.ts'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { Segments } from '../ui/page/Segments.tsx'
import { useChangeSearch } from '../ui/use-newest-search.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { AttentionList } from './AttentionList.tsx'
import { Figures } from './Figures.tsx'
import styles from './HomePage.module.css'
import { type HomeDays, homeDays, readHomeSearch } from './search.ts'

const GettingStarted = prefetchedComponent(() => import('./GettingStarted.tsx'))
const HomeCharts = prefetchedComponent(() => import('./HomeCharts.tsx'))

const defaultDays = 30

/** Home page: what needs attention, and statistics of the last days. */
export function HomePage() {
  const workspaceId = useWorkspaceId()
  const { days = defaultDays } = useSearch({ from: '/w/$workspaceId/home' })
  const changeSearch = useChangeSearch(readHomeSearch)
  const query = useStats(workspaceId, days)
  return (
    <>
      <PageHeader
        title={t.common.pages.home}
        action={
          <Group gap="sm" wrap="nowrap">
            <Anchor href="/docs" target="_blank" rel="noreferrer" size="sm" className={styles.reference}>
              {t.home.reference}
            </Anchor>
            <CsvButton stats={query.data} />
          </Group>
        }
      >
        <Segments
          label={t.home.span}
          data={homeDays.map((one) => ({ value: String(one), label: t.home.spans[one] }))}
          value={String(days)}
          onChange={(chosen) =>
            changeSearch(() => (Number(chosen) === defaultDays ? {} : { days: Number(chosen) as HomeDays }), {
              replace: true,
            })
          }
        />
      </PageHeader>
      <PageBody>
        <QueryBoundary query={query} rows={8}>
          {(stats) => <Overview stats={stats} days={days} />}
        </QueryBoundary>
      </PageBody>
    </>
  )
}

function Overview({ stats, days }: { stats: Stats; days: number }) {
  const workspaceId = useWorkspaceId()
  // Loads the code of the other parts after the figures are drawn, so that both do not compete for bandwidth.
  const isDrawn = useIsPainted()
  const shape = <div className={styles.card} data-shape aria-busy="true" />
  return (
    <div className={styles.page}>
      <Suspense>
        {isDrawn && hasRole(workspaceId, 'admin') && <GettingStarted hasLeads={stats.leads.total > 0} />}
      </Suspense>
      <AttentionList attention={stats.attention} />
      <Figures stats={stats} chosenDays={days} />
      <Suspense fallback={shape}>{isDrawn ? <HomeCharts stats={stats} /> : shape}</Suspense>
      <QuotaMeter quota={stats.quota} />
    </div>
  )
}

function CsvButton({ stats }: { stats: Stats | undefined }) {
  return (
    <Button
      variant="default"
      leftSection={<IconDownload size={16} />}
      disabled={stats === undefined}
      onClick={() => stats !== undefined && saveCsv(t.home.csv.daysFile, dayRows(stats))}
    >
      {t.home.csv.label}
    </Button>
  )
}

const agentRows = ['people', 'agents', 'otherApps'] as const

/** The rows of the CSV file. */
function dayRows({ days }: Stats): (string | number)[][] {
  const { charts, csv } = t.home
  const head = agentRows.flatMap((by) => [`${charts[by]}: ${csv.answers}`, `${charts[by]}: ${csv.median}`])
  const rows = days.map(({ date, leads, answers }) => [
    date,
    leads,
    ...agentRows.flatMap((by) => [answers[by]?.answers ?? 0, rounded(answers[by]?.medianSeconds)]),
  ])
  return [[csv.date, t.common.pages.leads, ...head], ...rows]
}

const rounded = (seconds: number | undefined): string | number => (seconds === undefined ? '' : Math.round(seconds))

const quotaWarningShare = 0.8

/** Used part of the daily quota. */
function QuotaMeter({ quota: { used, limit } }: { quota: Stats['quota'] }) {
  const texts = t.home.quota
  const part = limit === null ? 0 : Math.min(1, used / Math.max(1, limit))
  const tone = part >= 1 ? 'bad' : part >= quotaWarningShare ? 'attention' : undefined
  return (
    <section className={styles.card} aria-label={texts.title}>
      <h2 className={styles.title}>{texts.title}</h2>
      {limit !== null && (
        <div className={styles.meter} aria-hidden="true">
          <div data-tone={tone} style={{ width: `${100 * part}%` }} />
        </div>
      )}
      <p className={styles.muted}>
        {limit === null
          ? texts.unlimited({ used: formatNumber(used) })
          : texts.used({ used: formatNumber(used), limit: formatNumber(limit) })}
      </p>
    </section>
  )
}
