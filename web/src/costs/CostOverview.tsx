import { useState } from 'react'
import { useConnections } from '../data/connections.ts'
import { usePeople } from '../data/people.ts'
import { type CostGroup, type CostGrouping, type Costs, costGroupings, useCosts } from '../data/team/costs.ts'
import { language, t } from '../text/index.ts'
import { BarChart } from '../ui/charts/BarChart.tsx'
import styles from '../ui/charts/Dashboard.module.css'
import { dayPoints, daysBetween } from '../ui/charts/day-points.ts'
import { Figures } from '../ui/charts/Figures.tsx'
import { RankBars } from '../ui/charts/RankBars.tsx'
import { formatCost } from '../ui/format/cost.ts'
import { formatNumber } from '../ui/format/time.ts'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { Segments } from '../ui/page/Segments.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

/** Costs of a period: key figures, charts, groups. */
export function CostOverview({ costs, days }: { costs: Costs; days: number }) {
  const texts = t.costs
  if (costs.total.messages === 0) return <EmptyState title={texts.empty} help={texts.emptyHelp} />
  return (
    <div className={styles.page}>
      {costs.currency === null && <p className={styles.notice}>{texts.noCard}</p>}
      <CostFigures costs={costs} />
      <CostCharts costs={costs} days={days} />
      <CostGroups currency={costs.currency} days={days} />
      <p className={styles.muted}>{texts.help({ zone: costs.timeZone })}</p>
    </div>
  )
}

/** Key figures of the period. Unknown prices are shown as such. */
function CostFigures({ costs: { total, currency } }: { costs: Costs }) {
  const texts = t.costs.figures
  const { charged, free, unknown, unpriced, amount } = total
  const figures = [
    {
      name: texts.amount,
      value: formatCost(amount, currency),
      note: unpriced > 0 ? texts.unpriced({ n: unpriced }) : texts.byCard,
    },
    { name: texts.charged, value: formatNumber(charged), note: texts.chargedNote },
    { name: texts.free, value: formatNumber(free), note: texts.freeNote },
    { name: texts.unknown, value: formatNumber(unknown), note: texts.unknownNote },
  ]
  return <Figures figures={figures} />
}

const shownGroups = 50

/** Costs by sender, number, template, category or country. */
function CostGroups({ currency, days }: { currency: string | null; days: number }) {
  const texts = t.costs.groups
  const workspaceId = useWorkspaceId()
  const [groupBy, setBy] = useState<CostGrouping>('sender')
  const query = useCosts(workspaceId, days, groupBy, currency)
  const nameOf = useCostNames(workspaceId)
  return (
    <section className={styles.card} aria-label={texts.title}>
      <div className={styles.head}>
        <h2 className={styles.title}>{texts.title}</h2>
        <Segments
          label={texts.by}
          data={costGroupings.map((value) => ({ value, label: texts.names[value] }))}
          value={groupBy}
          onChange={setBy}
        />
      </div>
      <QueryBoundary query={query} rows={3}>
        {({ groups }) => (
          <Table
            label={`${texts.title}: ${texts.names[groupBy]}`}
            columns={columns((key) => nameOf(groupBy, key), currency)}
            rows={groups.slice(0, shownGroups)}
            keyOf={({ key }) => key ?? ''}
          />
        )}
      </QueryBoundary>
    </section>
  )
}

function columns(nameOf: (key: string | null) => string, currency: string | null): Column<CostGroup>[] {
  const texts = t.costs.groups
  return [
    { key: 'name', title: texts.name, cell: ({ key }) => nameOf(key) },
    { key: 'messages', title: texts.messages, cell: ({ messages }) => formatNumber(messages), numeric: true },
    { key: 'charged', title: texts.charged, cell: ({ charged }) => formatNumber(charged), numeric: true },
    { key: 'free', title: texts.free, cell: ({ free }) => formatNumber(free), numeric: true, optional: true },
    {
      key: 'amount',
      title: texts.amount,
      cell: ({ amount }) => formatCost(amount, currency),
      numeric: true,
      whole: true,
    },
  ]
}

/** Messages or amounts per day, and messages by category. */
function CostCharts({ costs, days }: { costs: Costs; days: number }) {
  const { data: categories } = useCosts(useWorkspaceId(), days, 'category', costs.currency)
  const texts = t.costs.charts
  const { currency } = costs
  const byDay = new Map(costs.groups.map((group) => [group.key, group]))
  const dates = daysBetween(costs.from, costs.to)
  const values = (of: (group: CostGroup) => number) => dates.map((date) => of(byDay.get(date) ?? noGroup))
  return (
    <>
      {currency !== null && (
        <div className={styles.card}>
          <BarChart
            label={texts.amountPerDay}
            points={dayPoints(dates)}
            series={[{ label: texts.amount, tone: 'accent', values: values(({ amount }) => Number(amount ?? 0)) }]}
            format={(value) => formatCost(String(value), currency)}
          />
        </div>
      )}
      <div className={styles.card} data-part="6">
        <BarChart
          label={texts.messagesPerDay}
          points={dayPoints(dates)}
          series={[
            { label: texts.charged, tone: 'accent', values: values(({ charged }) => charged) },
            { label: texts.free, tone: 'c8', values: values(({ free }) => free) },
            { label: texts.unknown, tone: 'attention', values: values(({ unknown }) => unknown) },
          ]}
          format={formatNumber}
        />
      </div>
      <div className={styles.card} data-part="6">
        <RankBars
          label={texts.byCategory}
          rows={(categories?.groups ?? []).map(({ key, messages }) => ({
            key: key ?? '',
            label: nameOfCategory(key),
            value: messages,
          }))}
          format={formatNumber}
        />
      </div>
    </>
  )
}

const noGroup: CostGroup = { key: null, messages: 0, charged: 0, free: 0, unknown: 0, unpriced: 0, amount: null }

/** Returns the name of a category of the platform. */
function nameOfCategory(category: string | null): string {
  const names: Record<string, string> = t.costs.categories
  return names[category ?? 'unknown'] ?? t.costs.categories.unknown
}

/** Returns the names of groups of costs; a placeholder for what is unknown or none. */
function useCostNames(workspaceId: string): (by: CostGrouping, key: string | null) => string {
  const people = usePeople(workspaceId)
  const { data: connections = [] } = useConnections(workspaceId)
  const countries = new Intl.DisplayNames(language, { type: 'region' })
  return (by, key) => {
    const none = t.costs.groups.none
    if (by === 'category') return nameOfCategory(key)
    if (key === null) return none[by]
    if (by === 'template') return key
    if (by === 'country') return /^[A-Z]{2}$/.test(key) ? (countries.of(key) ?? key) : key
    if (by === 'connection') return connections.find(({ id }) => id === key)?.name ?? t.common.unknown
    return people.nameOf(key.split(':')[1] ?? null) ?? none.sender
  }
}
