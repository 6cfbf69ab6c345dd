import { Button, Group, Select } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { usePeople } from '../data/people.ts'
import {
  type Agent,
  type AgentNumbers,
  type CountedNumber,
  type Days,
  useAgentNumbers,
} from '../data/team/agent-numbers.ts'
import { ReviewTabs } from '../shared/ReviewTabs.tsx'
import { t } from '../text/index.ts'
import dashboard from '../ui/charts/Dashboard.module.css'
import { saveCsv } from '../ui/csv.ts'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { Segments } from '../ui/page/Segments.tsx'
import { useChangeSearch } from '../ui/use-newest-search.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { CountedPanel } from './CountedPanel.tsx'
import { NumberFigures } from './NumberFigures.tsx'
import { dayBefore } from './number-rules.ts'
import { csvRows } from './numbers-csv.ts'
import { OutcomeChart } from './OutcomeChart.tsx'
import { ReasonLists } from './ReasonLists.tsx'
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
