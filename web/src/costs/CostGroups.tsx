import { useState } from 'react'
import { type CostGroup, type CostGrouping, costGroupings, useCosts } from '../data/team/costs.ts'
import { t } from '../text/index.ts'
import styles from '../ui/charts/Dashboard.module.css'
import { formatCost } from '../ui/format/cost.ts'
import { formatNumber } from '../ui/format/time.ts'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { Segments } from '../ui/page/Segments.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { useCostNames } from './group-names.ts'

const shownGroups = 50

/** Costs by sender, number, template, category or country. */
export function CostGroups({ currency, days }: { currency: string | null; days: number }) {
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
