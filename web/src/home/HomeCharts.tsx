import type { ComponentProps } from 'react'
import type { Stats } from '../data/stats.ts'
import { useWorkspace } from '../data/workspace.ts'
import { language, t } from '../text/index.ts'
import { BarChart } from '../ui/charts/BarChart.tsx'
import { dayPoints } from '../ui/charts/day-points.ts'
import { LineChart } from '../ui/charts/LineChart.tsx'
import { RankBars } from '../ui/charts/RankBars.tsx'
import { formatDuration, unitOf } from '../ui/format/duration.ts'
import { statusName } from '../ui/format/lead-texts.ts'
import { formatNumber } from '../ui/format/time.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './HomePage.module.css'

/** Charts below the key figures; loaded after them. */
export default function HomeCharts({ stats }: { stats: Stats }) {
  return (
    <>
      <LeadCharts stats={stats} />
      <AnswerTimes stats={stats} />
    </>
  )
}

function LeadCharts({ stats: { days, leads } }: { stats: Stats }) {
  const workspaceId = useWorkspaceId()
  const texts = t.home.charts
  const { data: workspace } = useWorkspace(workspaceId)
  const statuses = inOrder(leads.byStatus, workspace?.leadStatuses ?? [])
  const sources = leads.bySource.filter(({ count }) => count > 0)
  const ranking = (label: string, rows: ComponentProps<typeof RankBars>['rows']) => (
    <div className={styles.card} data-part="6">
      <RankBars label={label} rows={rows} format={formatNumber} />
      {rows.length === 0 && <p className={styles.muted}>{texts.noLeads}</p>}
    </div>
  )
  return (
    <>
      <div className={styles.card}>
        <BarChart
          label={texts.leadsPerDay}
          points={dayPoints(days.map(({ date }) => date))}
          series={[{ label: t.common.pages.leads, tone: 'accent', values: days.map((day) => day.leads) }]}
          format={formatNumber}
        />
      </div>
      {ranking(
        texts.bySource,
        sources.map(({ source, count }) => ({ key: source, label: t.lead.sources[source], value: count })),
      )}
      {ranking(
        texts.byStatus,
        statuses.map(({ status, count }) => ({ key: status, label: statusName(status), value: count })),
      )}
    </>
  )
}

/** Sorts by the workspace's order of statuses; removed statuses come last. */
function inOrder(byStatus: Stats['leads']['byStatus'], order: readonly string[]): Stats['leads']['byStatus'] {
  const place = (status: string) => (order.includes(status) ? order.indexOf(status) : order.length)
  return byStatus.toSorted((a, b) => place(a.status) - place(b.status))
}

/** Times to the first response, for people and agents. */
function AnswerTimes({ stats: { days, answers } }: { stats: Stats }) {
  const texts = t.home.charts
  const hasAny = answers.people !== null || answers.agents !== null || answers.otherApps !== null
  if (!hasAny) {
    return (
      <section className={styles.card} aria-label={texts.answerTimes}>
        <h2 className={styles.title}>{texts.answerTimes}</h2>
        <p className={styles.muted}>{texts.noAnswers}</p>
      </section>
    )
  }
  const medians = (of: 'people' | 'agents' | 'otherApps') => days.map((day) => day.answers[of]?.medianSeconds ?? null)
  const longest = Math.max(0, ...(['people', 'agents', 'otherApps'] as const).flatMap(medians).map((one) => one ?? 0))
  return (
    <div className={styles.card}>
      <LineChart
        label={texts.answerTimes}
        points={dayPoints(days.map(({ date }) => date))}
        series={[
          { label: texts.people, tone: 'accent', values: medians('people') },
          { label: texts.agents, tone: 'agent', values: medians('agents'), isDashed: true },
          ...(answers.otherApps === null
            ? []
            : [{ label: texts.otherApps, tone: 'c8' as const, values: medians('otherApps') }]),
        ]}
        format={(seconds) => formatDuration(seconds, language)}
        unit={unitOf(longest)}
      />
      <p className={styles.muted}>{slowestGroup(answers)}</p>
    </div>
  )
}

function slowestGroup({ people, agents }: Stats['answers']): string {
  const texts = t.home.charts
  const [ofPeople, ofAgents] = [p90Text(people), p90Text(agents)]
  return [
    texts.slowest,
    ...(ofPeople === null ? [] : [texts.slowestPeople({ people: ofPeople })]),
    ...(ofAgents === null ? [] : [texts.slowestAgents({ agents: ofAgents })]),
  ].join(' ')
}

const p90Text = (of: Stats['answers']['people']): string | null =>
  of === null ? null : formatDuration(of.p90Seconds, language)
