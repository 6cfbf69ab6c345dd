import { Anchor, Button, Group, Select } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { usePeople } from '../data/people.ts'
import {
  type Agent,
  type AgentNumbers,
  type CountedNumber,
  type Days,
  type Outcomes,
  useAgentNumbers,
  useAgentReasons,
  useCounted,
} from '../data/team/agent-numbers.ts'
import { ReviewTabs } from '../shared/ReviewTabs.tsx'
import { t } from '../text/index.ts'
import { BarChart } from '../ui/charts/BarChart.tsx'
import type { ChartTone } from '../ui/charts/chart-props.ts'
import dashboard from '../ui/charts/Dashboard.module.css'
import { dayPoints, daysBetween } from '../ui/charts/day-points.ts'
import { RankBars } from '../ui/charts/RankBars.tsx'
import { saveCsv } from '../ui/csv.ts'
import { formatDateTime, formatNumber } from '../ui/format/time.ts'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { MoreButton } from '../ui/page/MoreButton.tsx'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { Segments } from '../ui/page/Segments.tsx'
import { SidePanel } from '../ui/page/SidePanel.tsx'
import { Table } from '../ui/page/Table.tsx'
import { useChangeSearch } from '../ui/use-newest-search.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { NumberFigures } from './NumberFigures.tsx'
import { dayBefore } from './number-rules.ts'
import { csvRows } from './numbers-csv.ts'
import { type ReviewSearch, readReviewSearch, reviewDays } from './search.ts'
import { VersionTable } from './VersionTable.tsx'

const defaultDays = 30

/** The parameters of the page; the router keeps those that were dropped as invalid. */
const useReviewSearch = (): ReviewSearch => readReviewSearch(useSearch({ from: '/w/$workspaceId/review/numbers' }))

/** How the conversations of agents end, what became of their drafts, and what they cost. */
export function NumbersPage() {
  const { days = defaultDays } = useReviewSearch()
  const change = useChangeSearch(readReviewSearch)
  const query = useAgentNumbers(useWorkspaceId(), { days })
  const people = usePeople(useWorkspaceId())
  return (
    <>
      <PageHeader title={t.common.pages.review}>
        <ReviewTabs />
      </PageHeader>
      <PageBody>
        <Group mb="md" justify="space-between">
          <Segments
            label={t.review.span}
            data={reviewDays.map((one) => ({ value: String(one), label: t.home.spans[one] }))}
            value={String(days)}
            onChange={(chosen) =>
              change(({ days: _, ...rest }) => {
                const next = reviewDays.find((one) => String(one) === chosen)
                return next === defaultDays || next === undefined ? rest : { ...rest, days: next }
              })
            }
          />
          <Button
            variant="default"
            leftSection={<IconDownload size={16} />}
            disabled={query.data === undefined}
            onClick={() => query.data && saveCsv(t.review.csvFile, csvRows(query.data, people.nameOf))}
          >
            {t.review.csv}
          </Button>
        </Group>
        <QueryBoundary query={query} rows={8}>
          {(numbers) =>
            numbers.agents.length === 0 ? (
              <EmptyState title={t.review.noCases} help={t.review.noCasesHelp} />
            ) : (
              <Overview numbers={numbers} days={days} />
            )
          }
        </QueryBoundary>
      </PageBody>
    </>
  )
}

/** An agent, and with what it is compared. */
function useChosen(numbers: AgentNumbers, days: number) {
  const { key, with: other } = useReviewSearch()
  const workspaceId = useWorkspaceId()
  const previous: Days = { days, to: dayBefore(numbers.from) }
  const before = useAgentNumbers(workspaceId, other === 'before' ? previous : null)
  const agent = numbers.agents.find(({ keyId }) => keyId === key) ?? numbers.agents[0]
  const isBefore = other === 'before'
  const compared = isBefore
    ? before.data?.agents.find(({ keyId }) => keyId === agent?.keyId)
    : numbers.agents.find(({ keyId }) => keyId === other && keyId !== agent?.keyId)
  return { agent, compared, isBefore }
}

/** What a panel lists. */
interface Listed {
  agent: Agent
  number: CountedNumber
}

function Overview({ numbers, days }: { numbers: AgentNumbers; days: number }) {
  const people = usePeople(useWorkspaceId())
  const { agent, compared, isBefore } = useChosen(numbers, days)
  const [listed, setListed] = useState<Listed | null>(null)
  const period = { days, to: numbers.to }
  if (agent === undefined) return null
  const comparedName = isBefore ? t.review.before : (people.nameOf(compared?.keyId ?? null) ?? '')
  return (
    <>
      <Choices numbers={numbers} agent={agent} />
      <div className={dashboard.page}>
        <NumberFigures
          agent={agent}
          numbers={numbers}
          compared={compared === undefined ? null : { agent: compared, name: comparedName }}
          open={(number) => setListed({ agent, number })}
        />
        <OutcomeChart agent={agent} numbers={numbers} name={people.nameOf(agent.keyId) ?? ''} />
        {compared !== undefined && !isBefore && <OutcomeChart agent={compared} numbers={numbers} name={comparedName} />}
        <VersionTable agent={agent} />
        <ReasonLists keyId={agent.keyId} period={period} />
        <p className={dashboard.muted}>{t.review.help({ zone: numbers.timeZone })}</p>
      </div>
      {listed !== null && (
        <CountedPanel keyId={listed.agent.keyId} number={listed.number} period={period} close={() => setListed(null)} />
      )}
    </>
  )
}

/** Chooses the agent and with what it is compared. */
function Choices({ numbers, agent }: { numbers: AgentNumbers; agent: Agent }) {
  const { with: other = '' } = useReviewSearch()
  const change = useChangeSearch(readReviewSearch)
  const people = usePeople(useWorkspaceId())
  const options = numbers.agents.map(({ keyId }) => ({ value: keyId, label: people.nameOf(keyId) ?? '' }))
  const set = (name: 'key' | 'with', value: string) =>
    change(({ [name]: _, ...rest }): ReviewSearch => (value === '' ? rest : { ...rest, [name]: value }))
  return (
    <Group mb="md" align="end">
      <Select
        label={t.review.agent}
        data={options}
        value={agent.keyId}
        onChange={(value) => set('key', value ?? '')}
        allowDeselect={false}
      />
      <Select
        label={t.review.compare}
        data={[
          { value: '', label: t.review.compareNone },
          { value: 'before', label: t.review.before },
          ...options.filter(({ value }) => value !== agent.keyId),
        ]}
        value={other === agent.keyId ? '' : other}
        onChange={(value) => set('with', value ?? '')}
        allowDeselect={false}
      />
    </Group>
  )
}

interface OutcomeChartProps {
  agent: Agent
  numbers: Pick<AgentNumbers, 'from' | 'to'>
  name: string
}

const tones: Record<keyof Outcomes, ChartTone> = {
  resolved: 'good',
  recent: 'c2',
  reopened: 'attention',
  assisted: 'accent',
  handed_over: 'agent',
  taken_over: 'bad',
  silent: 'c5',
  other: 'c8',
}

/** How cases ended, per day. */
function OutcomeChart({ agent, numbers: { from, to }, name }: OutcomeChartProps) {
  const byDate = new Map(agent.days.map(({ date, outcomes }) => [date, outcomes]))
  const dates = daysBetween(from, to)
  const shown = (Object.keys(tones) as (keyof Outcomes)[]).filter((one) => agent.outcomes[one] > 0)
  return (
    <div className={dashboard.card}>
      <BarChart
        label={t.review.casesPerDay({ name })}
        points={dayPoints(dates)}
        series={shown.map((one) => ({
          label: t.review.outcomes[one],
          tone: tones[one],
          values: dates.map((date) => byDate.get(date)?.[one] ?? 0),
        }))}
        format={formatNumber}
      />
    </div>
  )
}

/** Why the agent handed over, and why people rejected its drafts. */
function ReasonLists({ keyId, period }: { keyId: string; period: Days }) {
  const { data } = useAgentReasons(useWorkspaceId(), keyId, period)
  if (data === undefined) return null
  const texts = t.review
  const lists = [
    { label: texts.handoverReasons, reasons: data.handovers },
    { label: texts.rejectionReasons, reasons: data.rejections },
  ]
  return lists
    .filter(({ reasons }) => reasons.length > 0)
    .map(({ label, reasons }) => (
      <div key={label} className={dashboard.card} data-part="6">
        <RankBars
          label={label}
          rows={reasons.map(({ reason, count }) => ({
            key: reason ?? '',
            label: reason ?? texts.noReason,
            value: count,
          }))}
          format={formatNumber}
        />
      </div>
    ))
}

interface CountedPanelProps {
  keyId: string
  number: CountedNumber
  period: Days
  close(): void
}

/** The conversations that a number counts. */
function CountedPanel({ keyId, number, period, close }: CountedPanelProps) {
  const workspaceId = useWorkspaceId()
  const query = useCounted(workspaceId, keyId, number, period)
  const names: Record<string, string> = { ...t.review.outcomes, ...t.review.numbers, answered: t.review.cases }
  return (
    <SidePanel title={names[number] ?? ''} close={close}>
      <QueryBoundary query={query} rows={6}>
        {({ pages }) => (
          <Table
            label={names[number] ?? ''}
            columns={[
              {
                key: 'name',
                title: t.review.customer,
                cell: ({ conversationId, name }) => (
                  <Anchor component={Link} to={`/w/${workspaceId}/inbox/${conversationId}`} size="sm">
                    {name ?? t.inbox.noName}
                  </Anchor>
                ),
              },
              { key: 'at', title: t.review.when, whole: true, cell: ({ at }) => formatDateTime(at) },
            ]}
            rows={pages.flatMap(({ conversations }) => conversations)}
            keyOf={({ id }) => id}
          />
        )}
      </QueryBoundary>
      <MoreButton query={query}>{t.review.more}</MoreButton>
    </SidePanel>
  )
}
