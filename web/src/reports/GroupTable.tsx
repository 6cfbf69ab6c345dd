import { Anchor, Select } from '@mantine/core'
import {
  type Dimension,
  type ReportGroup,
  type ReportGroups,
  type ReportNumber,
  useReportGroups,
} from '../data/team/reports.ts'
import { language, t } from '../text/index.ts'
import { changeOf } from '../ui/charts/change.ts'
import styles from '../ui/charts/Dashboard.module.css'
import { formatAmount } from '../ui/format/amount.ts'
import { formatCost } from '../ui/format/cost.ts'
import { formatDuration } from '../ui/format/duration.ts'
import { formatNumber } from '../ui/format/time.ts'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { useGroupNames } from './group-names.ts'
import { dimensions } from './search.ts'

interface GroupTableProps {
  by: Dimension
  days: number
  changeBy(by: Dimension): void
  /** Shows the report of one group. */
  choose(by: Dimension, value: string): void
  /** Lists what a number of a group counts. */
  open(number: ReportNumber, by: Dimension, value: string): void
}

/** The same numbers by connection, team, person, agent, label, source or campaign. */
export function GroupTable({ by, days, changeBy, choose, open }: GroupTableProps) {
  const workspaceId = useWorkspaceId()
  const texts = t.reports
  const query = useReportGroups(workspaceId, days, by)
  const nameOf = useGroupNames(workspaceId)
  return (
    <section className={styles.card} aria-label={texts.groups}>
      <div className={styles.head}>
        <h2 className={styles.title}>{texts.groups}</h2>
        <Select
          aria-label={texts.by}
          size="xs"
          w={160}
          allowDeselect={false}
          data={dimensions.map((value) => ({ value, label: texts.dimensions[value] }))}
          value={by}
          onChange={(value) => changeBy(dimensions.find((one) => one === value) ?? by)}
        />
      </div>
      <QueryBoundary query={query} rows={3}>
        {(report) =>
          report.groups.length === 0 ? (
            <p className={styles.muted}>{texts.noGroups}</p>
          ) : (
            <div className={styles.wide}>
              <Table
                label={`${texts.groups}: ${texts.dimensions[by]}`}
                columns={columns(
                  report,
                  by,
                  ({ id, name }) => name ?? nameOf(by, id),
                  (number, id) => open(number, by, id),
                )}
                rows={report.groups}
                keyOf={({ id }) => id}
                open={({ id }) => choose(by, id)}
              />
            </div>
          )
        }
      </QueryBoundary>
      <p className={styles.muted}>{texts.dimensionHelp[by]}</p>
    </section>
  )
}

type Open = (number: ReportNumber, id: string) => void

function columns(
  { currency, costCurrency }: ReportGroups,
  by: Dimension,
  nameOf: (group: ReportGroup) => string,
  open: Open,
): Column<ReportGroup>[] {
  const texts = t.reports
  const count = (number: ReportNumber, optional = false): Column<ReportGroup> => ({
    key: number,
    title: texts.short[number as keyof typeof texts.short] ?? texts.numbers[number],
    numeric: true,
    optional,
    cell: (group) => <Count group={group} number={number} open={open} nameOf={nameOf} />,
  })
  const time = (name: 'answer' | 'resolution'): Column<ReportGroup> => ({
    key: name,
    title: texts.short[name],
    numeric: true,
    whole: true,
    optional: name === 'resolution',
    cell: (group) => timeText(group[name].now?.medianSeconds),
  })
  const won: Column<ReportGroup> = {
    key: 'value',
    title: texts.short.value,
    numeric: true,
    whole: true,
    cell: ({ leads }) => formatAmount(Number(leads.find(({ status }) => status === 'won')?.amount ?? 0), currency),
  }
  const cost: Column<ReportGroup> = {
    key: 'cost',
    title: texts.cost,
    numeric: true,
    whole: true,
    cell: (group) => formatCost(group.cost?.now ?? null, costCurrency),
  }
  return [
    { key: 'name', title: texts.name, cell: nameOf },
    ...columnsOf(by, count, time, won),
    ...(costCurrency === null ? [] : [cost]),
  ]
}

/** Leads have a source and an assignee; cases of agents a key. */
function columnsOf(
  by: Dimension,
  count: (number: ReportNumber, optional?: boolean) => Column<ReportGroup>,
  time: (name: 'answer' | 'resolution') => Column<ReportGroup>,
  won: Column<ReportGroup>,
): Column<ReportGroup>[] {
  const leads = [count('leads'), count('leads_won'), won]
  if (by === 'source' || by === 'campaign') return [count('new', true), ...leads, time('answer')]
  if (by === 'label')
    return [count('new'), count('closed'), count('answers'), time('answer'), time('resolution'), ...leads]
  const common = [count('closed'), count('answers'), time('answer'), time('resolution')]
  if (by === 'person') return [...common, ...leads]
  if (by === 'key') return [...common, count('case_resolved'), count('case_handed_over'), count('ratings_good', true)]
  return [count('new'), ...common, count('reopened', true), count('case_handed_over', true)]
}

const timeText = (seconds: number | undefined): string =>
  seconds === undefined ? '–' : formatDuration(seconds, language)

/** A number that opens its list, and its change. */
function Count({
  group,
  number,
  open,
  nameOf,
}: {
  group: ReportGroup
  number: ReportNumber
  open: Open
  nameOf: (group: ReportGroup) => string
}) {
  const { now, before } = group.counts[number]
  const change = changeOf(now, before)
  const isMoved = change?.kind === 'more' || change?.kind === 'less'
  const percent = isMoved
    ? ` ${formatNumber(change.kind === 'more' ? change.fraction : -change.fraction, { style: 'percent', signDisplay: 'always', maximumFractionDigits: 0 })}`
    : ''
  if (now === 0) return `0${percent}`
  return (
    <>
      <Anchor
        component="button"
        type="button"
        size="sm"
        aria-label={t.reports.openNumber({ name: nameOf(group), number: t.reports.numbers[number], n: now })}
        onClick={() => open(number, group.id)}
      >
        {formatNumber(now)}
      </Anchor>
      {percent}
    </>
  )
}
