import { Anchor, Button, Group } from '@mantine/core'
import {
  IconAlertTriangle,
  IconBulb,
  IconChevronRight,
  IconCircleCheck,
  IconDownload,
  IconExclamationCircle,
} from '@tabler/icons-react'
import { Link, useSearch } from '@tanstack/react-router'
import { Suspense } from 'react'
import { type Comparison, useComparison } from '../data/comparison.ts'
import { type Attention, type Stats, useStats } from '../data/stats.ts'
import { hasRole } from '../session/session.ts'
import { language, t } from '../text/index.ts'
import { changeOf } from '../ui/charts/change.ts'
import { type Figure, Figures as FigureRow } from '../ui/charts/Figures.tsx'
import { saveCsv } from '../ui/csv.ts'
import { formatDuration } from '../ui/format/duration.ts'
import { formatDateTime, formatNumber, timeAgo } from '../ui/format/time.ts'
import { prefetchedComponent, useIsPainted } from '../ui/overlay/lazy.ts'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { Segments } from '../ui/page/Segments.tsx'
import { useChangeSearch } from '../ui/use-newest-search.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
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

/** Key figures, compared with the previous period. */
function Figures({ stats, chosenDays }: { stats: Stats; chosenDays: number }) {
  const { data } = useComparison(useWorkspaceId(), chosenDays)
  return <FigureRow figures={figuresOf(stats, data)} />
}

function figuresOf({ leads, waiting, answers, days }: Stats, comparison: Comparison | undefined): Figure[] {
  const texts = t.home.figures
  const { now, before } = comparison ?? {}
  const seconds = (one: number) => formatDuration(one, language)
  const speed = (by: 'people' | 'agents'): Omit<Figure, 'name'> => {
    const of = answers[by]
    if (of === null) return { value: texts.noData, isEmpty: true, note: texts.noAnswers }
    const [median, medianBefore] = [now?.answers[by]?.medianSeconds, before?.answers[by]?.medianSeconds]
    return {
      value: seconds(of.medianSeconds),
      note: texts.median({ n: of.answers }),
      change: changeText(median, medianBefore, t.home.change.times, days.length, true, seconds),
    }
  }
  return [
    {
      name: texts.newLeads,
      value: formatNumber(leads.created),
      note: texts.inDays({ n: days.length }),
      change: changeText(now?.leads, before?.leads, t.home.change.counts, days.length, false, formatNumber),
    },
    { name: texts.today, value: formatNumber(days.at(-1)?.leads ?? 0), note: texts.leads },
    { name: texts.allLeads, value: formatNumber(leads.total), note: texts.now },
    {
      name: texts.waiting,
      value: formatNumber(waiting.forPeople + waiting.forAgents),
      note: texts.waitingFor({ minutes: waiting.minutes }),
    },
    { name: texts.people, ...speed('people') },
    { name: texts.agents, ...speed('agents') },
  ]
}

function changeText(
  now: number | undefined,
  before: number | undefined,
  texts: typeof t.home.change.counts,
  days: number,
  isLessGood: boolean,
  show: (value: number) => string,
): Figure['change'] {
  const change = changeOf(now ?? null, before ?? null)
  if (change === null) return null
  const { kind, fraction } = change
  const percent = formatNumber(fraction, { style: 'percent', maximumFractionDigits: fraction < 0.1 ? 1 : 0 })
  const isGood = kind === 'same' ? null : (kind === 'less') === isLessGood
  return { words: texts[kind]({ percent, days, before: show(before ?? 0) }), isGood }
}

/** What needs attention, most urgent first; each entry links to where it can be fixed. */
function AttentionList({ attention }: { attention: Attention[] }) {
  const texts = t.home.attention
  return (
    <section className={styles.card} aria-label={texts.title}>
      <h2 className={styles.title}>{texts.title}</h2>
      {attention.every(({ code }) => kinds[code].tone === 'hint') && (
        <div className={styles.line}>
          <span className={styles.mark} data-tone="good">
            <IconCircleCheck size={18} />
          </span>
          {texts.empty}
        </div>
      )}
      {attention.length > 0 && (
        <ul className={styles.list}>
          {attention.map((one) => (
            <li key={`${one.code} ${one.id}`}>
              <Line one={one} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

const icons = { bad: IconExclamationCircle, attention: IconAlertTriangle, hint: IconBulb }

function Line({ one }: { one: Attention }) {
  const workspaceId = useWorkspaceId()
  const { tone, path, search } = kinds[one.code]
  const Icon = icons[tone]
  return (
    <Link to={`/w/${workspaceId}/${path(one)}` as '/'} search={search as never} className={styles.line}>
      <span className={styles.mark} data-tone={tone}>
        <Icon size={18} aria-label={t.home.attention.tones[tone]} role="img" />
      </span>
      <span className={styles.text}>{attentionText(one)}</span>
      {one.at !== null && (
        <span className={styles.when} title={formatDateTime(one.at)}>
          {Date.parse(one.at) > Date.now() ? formatDateTime(one.at) : timeAgo(one.at)}
        </span>
      )}
      <IconChevronRight size={16} />
    </Link>
  )
}

function attentionText({ code, name, count }: Attention): string {
  const { messages, unnamed } = t.home.attention
  const text = messages[code]
  return typeof text === 'string' ? text : text({ name: name ?? unnamed, n: count ?? 0 })
}

type AttentionCode = Attention['code']

interface Kind {
  /** `hint` for suggestions, which are not problems. */
  tone: 'bad' | 'attention' | 'hint'
  /** Path within the workspace where it can be fixed. */
  path(one: Pick<Attention, 'id'>): string
  search?: Record<string, unknown>
}

const connection = ({ id }: Pick<Attention, 'id'>) => (id === null ? 'connections' : `connections/${id}`)
const keys = () => 'keys'
const webhook = ({ id }: Pick<Attention, 'id'>) => (id === null ? 'webhooks' : `webhooks/${id}`)
const workspace = () => 'settings/workspace'

const kinds: Record<AttentionCode, Kind> = {
  agents_stopped: { tone: 'bad', path: () => 'settings/agents' },
  connection_unavailable: { tone: 'bad', path: connection },
  quota_reached: { tone: 'bad', path: workspace },
  customers_waiting: {
    tone: 'attention',
    path: () => 'inbox',
    search: { view: 'all', unanswered: true, sort: 'waiting' },
  },
  key_paused: { tone: 'attention', path: keys },
  webhook_disabled: { tone: 'bad', path: webhook },
  webhook_failing: { tone: 'attention', path: webhook },
  acknowledgement_missing: { tone: 'attention', path: connection },
  key_expired: { tone: 'attention', path: keys },
  acknowledgement_ending: { tone: 'attention', path: connection },
  key_expiring: { tone: 'attention', path: keys },
  quota_near: { tone: 'attention', path: workspace },
  connection_not_set_up: { tone: 'hint', path: connection },
}
