import { Group } from '@mantine/core'
import { useState } from 'react'
import { usePeople } from '../data/people.ts'
import { type Criterion, type ReviewResults, useReviewResults, useReviewSettings } from '../data/team/reviews.ts'
import { criterionName } from '../shared/criterion-name.ts'
import { ReviewTabs } from '../shared/ReviewTabs.tsx'
import { t } from '../text/index.ts'
import dashboard from '../ui/charts/Dashboard.module.css'
import { dayPoints, daysBetween } from '../ui/charts/day-points.ts'
import { LineChart } from '../ui/charts/LineChart.tsx'
import { RankBars } from '../ui/charts/RankBars.tsx'
import { formatNumber } from '../ui/format/time.ts'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { Segments } from '../ui/page/Segments.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { formatFraction } from './NumberFigures.tsx'
import { reviewDays } from './search.ts'
import { versionName } from './VersionTable.tsx'

type AgentResults = ReviewResults['agents'][number]
type Row = Pick<AgentResults, 'reviews' | 'score' | 'criteria'> & { key: string; name: string }

/** What reviews found: by agent, by version of its instructions, and over time. */
export function ResultsPage() {
  const [days, setDays] = useState('30')
  const query = useReviewResults(useWorkspaceId(), { days: Number(days) })
  return (
    <>
      <PageHeader title={t.common.pages.review}>
        <ReviewTabs />
      </PageHeader>
      <PageBody>
        <Group mb="md">
          <Segments
            label={t.review.span}
            data={reviewDays.map((one) => ({ value: String(one), label: t.home.spans[one] }))}
            value={days}
            onChange={setDays}
          />
        </Group>
        <QueryBoundary query={query} rows={8}>
          {(results) =>
            results.agents.length === 0 ? (
              <EmptyState title={t.review.noResults} help={t.review.noResultsHelp} />
            ) : (
              <Results results={results} />
            )
          }
        </QueryBoundary>
      </PageBody>
    </>
  )
}

function Results({ results }: { results: ReviewResults }) {
  const workspaceId = useWorkspaceId()
  const people = usePeople(workspaceId)
  const { data: settings } = useReviewSettings(workspaceId)
  const columns = columnsOf(settings?.criteria ?? [])
  const nameOf = (keyId: string) => people.nameOf(keyId) ?? ''
  return (
    <div className={dashboard.page}>
      <section className={dashboard.card} aria-label={t.review.scores}>
        <h2 className={dashboard.title}>{t.review.scores}</h2>
        <Table
          label={t.review.scores}
          columns={columns}
          rows={results.agents.map((one): Row => ({ ...one, key: one.keyId, name: nameOf(one.keyId) }))}
          keyOf={({ key }) => key}
        />
      </section>
      <div className={dashboard.card}>
        <ScoreChart results={results} nameOf={nameOf} />
      </div>
      {results.agents.map((agent) => (
        <AgentSection key={agent.keyId} agent={agent} name={nameOf(agent.keyId)} columns={columns} />
      ))}
      <p className={dashboard.muted}>{t.review.resultsHelp({ zone: results.timeZone })}</p>
    </div>
  )
}

const nameColumn: Column<Row> = { key: 'name', title: '', cell: ({ name }) => name }

function columnsOf(criteria: readonly Criterion[]): Column<Row>[] {
  return [
    { ...nameColumn, title: t.review.agent },
    { key: 'reviews', title: t.review.reviews, numeric: true, cell: ({ reviews }) => formatNumber(reviews) },
    {
      key: 'score',
      title: t.review.score,
      numeric: true,
      cell: ({ score }) => (score === null ? '–' : formatFraction(score)),
    },
    ...criteria.map(
      (criterion): Column<Row> => ({
        key: criterion.id,
        title: criterionName(criterion),
        numeric: true,
        optional: true,
        cell: ({ criteria: results }) => {
          const found = results.find(({ id }) => id === criterion.id)
          if (found === undefined) return '–'
          const mean = formatNumber(found.meanStep, { maximumFractionDigits: 1 })
          return t.review.stepOf({ step: mean, steps: criterion.steps, n: found.reviews })
        },
      }),
    ),
  ]
}

const tones = ['accent', 'agent', 'c3', 'c4', 'c5'] as const

function ScoreChart({ results, nameOf }: { results: ReviewResults; nameOf: (keyId: string) => string }) {
  const dates = daysBetween(results.from, results.to)
  return (
    <LineChart
      label={t.review.scorePerDay}
      points={dayPoints(dates)}
      series={results.agents.slice(0, tones.length).map(({ keyId, days }, n) => {
        const byDate = new Map(days.map(({ date, score }) => [date, score]))
        return {
          label: nameOf(keyId),
          tone: tones[n] ?? 'accent',
          values: dates.map((date) => byDate.get(date) ?? null),
          isDashed: n % 2 === 1,
        }
      })}
      format={formatFraction}
    />
  )
}

/** Versions of the instructions, and what was wrong. */
function AgentSection({ agent, name, columns }: { agent: AgentResults; name: string; columns: Column<Row>[] }) {
  const rows = agent.versions.map((one): Row => ({ ...one, key: one.id ?? '', name: versionName(one) }))
  const label = t.review.versionsOf({ name })
  const [named = nameColumn, ...others] = columns
  return (
    <>
      <section className={dashboard.card} data-part="6" aria-label={label}>
        <h2 className={dashboard.title}>{label}</h2>
        <Table
          label={label}
          columns={[{ ...named, title: t.review.instructions }, ...others.slice(0, 2)]}
          rows={rows}
          keyOf={({ key }) => key}
        />
      </section>
      {agent.flags.length > 0 && (
        <div className={dashboard.card} data-part="6">
          <RankBars
            label={t.review.wrongOf({ name })}
            rows={agent.flags.map(({ flag, reviews }) => ({ key: flag, label: t.review.flags[flag], value: reviews }))}
            format={formatNumber}
          />
        </div>
      )}
    </>
  )
}
