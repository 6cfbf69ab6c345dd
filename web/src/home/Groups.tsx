import { useState } from 'react'
import { type AnswerGroup, type Comparison, useComparison } from '../data/comparison.ts'
import { language, t } from '../text/index.ts'
import { changeOf } from '../ui/charts/change.ts'
import { formatDuration } from '../ui/format/duration.ts'
import { formatNumber } from '../ui/format/time.ts'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { Segments } from '../ui/page/Segments.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { type GroupName, groupNames, useGroupNames } from './group-names.ts'
import styles from './HomePage.module.css'

/** First replies by member, agent, connection or label, compared with the previous period. */
export function Groups({ days }: { days: number }) {
  const texts = t.home.groups
  const query = useComparison(useWorkspaceId(), days)
  const [groupBy, setBy] = useState<GroupName>('people')
  return (
    <section className={styles.card} aria-label={texts.title}>
      <div className={styles.head} data-wraps>
        <h2 className={styles.title}>{texts.title}</h2>
        <Segments
          label={texts.by}
          data={groupNames.map((value) => ({ value, label: texts.names[value] }))}
          value={groupBy}
          onChange={setBy}
        />
      </div>
      <QueryBoundary query={query} rows={3}>
        {(comparison) => <GroupTable comparison={comparison} groupBy={groupBy} days={days} />}
      </QueryBoundary>
    </section>
  )
}

function GroupTable({ comparison, groupBy, days }: { comparison: Comparison; groupBy: GroupName; days: number }) {
  const texts = t.home.groups
  const nameOf = useGroupNames(useWorkspaceId())
  const rows = comparison[groupBy]
  return (
    <>
      {rows.length === 0 ? (
        <p className={styles.muted}>{texts.none}</p>
      ) : (
        <div className={styles.wide}>
          <Table
            label={`${texts.title}: ${texts.names[groupBy]}`}
            columns={columns((id) => nameOf(groupBy, id))}
            rows={rows}
            keyOf={({ id }) => id}
          />
        </div>
      )}
      <p className={styles.muted}>
        {[
          texts.help({ days }),
          ...(comparison.sampledEvery > 1 ? [texts.sampled({ every: formatNumber(comparison.sampledEvery) })] : []),
        ].join(' ')}
      </p>
    </>
  )
}

function columns(nameOf: (id: string) => string): Column<AnswerGroup>[] {
  const texts = t.home.groups
  const time = (seconds: number | undefined) => (seconds === undefined ? '–' : formatDuration(seconds, language))
  return [
    { key: 'name', title: texts.name, cell: ({ id }) => nameOf(id) },
    { key: 'answers', title: texts.answers, cell: ({ now }) => formatNumber(now?.answers ?? 0), numeric: true },
    {
      key: 'change',
      title: texts.answersBefore,
      cell: ({ now, before }) => <PreviousValue now={now?.answers ?? 0} before={before?.answers ?? 0} />,
      numeric: true,
      optional: true,
    },
    { key: 'median', title: texts.median, cell: ({ now }) => time(now?.medianSeconds), numeric: true, whole: true },
    {
      key: 'before',
      title: texts.medianBefore,
      cell: ({ before }) => time(before?.medianSeconds),
      numeric: true,
      optional: true,
    },
    { key: 'p90', title: texts.p90, cell: ({ now }) => time(now?.p90Seconds), numeric: true, optional: true },
  ]
}

/** Value of the previous period and the change since then. */
function PreviousValue({ now, before }: { now: number; before: number }) {
  const change = changeOf(now, before)
  const isMoved = change?.kind === 'more' || change?.kind === 'less'
  const percent = isMoved
    ? ` (${formatNumber(change.kind === 'more' ? change.fraction : -change.fraction, { style: 'percent', signDisplay: 'always', maximumFractionDigits: 0 })})`
    : ''
  return `${formatNumber(before)}${percent}`
}
