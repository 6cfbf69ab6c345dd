import { Menu } from '@mantine/core'
import { type AnswerGroup, type Comparison, useComparison } from '../data/comparison.ts'
import type { Stats } from '../data/stats.ts'
import { t } from '../text/index.ts'
import { saveCsv } from '../ui/csv.ts'
import { DropdownMenu } from '../ui/overlay/DropdownMenu.tsx'
import type { Dropdown } from '../ui/overlay/dropdown.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { type GroupName, groupNames, useGroupNames } from './group-names.ts'

interface CsvMenuProps {
  dropdown: Dropdown
  stats: Stats | undefined
  days: number
}

/** Downloads the figures of the page as CSV. */
export default function CsvMenu({ dropdown, stats, days }: CsvMenuProps) {
  const texts = t.home.csv
  const workspaceId = useWorkspaceId()
  const { data: comparison } = useComparison(workspaceId, days)
  const nameOf = useGroupNames(workspaceId)
  return (
    <DropdownMenu dropdown={dropdown} position="bottom-end" width={220}>
      <Menu.Item disabled={stats === undefined} onClick={() => stats && saveCsv(texts.daysFile, dayRows(stats))}>
        {texts.days}
      </Menu.Item>
      <Menu.Item
        disabled={comparison === undefined}
        onClick={() => comparison && saveCsv(texts.groupsFile, groupRows(comparison, nameOf))}
      >
        {texts.groups}
      </Menu.Item>
    </DropdownMenu>
  )
}

const agentRows = ['people', 'agents', 'otherApps'] as const

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

function groupRows(comparison: Comparison, nameOf: (by: GroupName, id: string) => string): (string | number)[][] {
  const { csv, groups } = t.home
  const figures = [csv.answers, csv.median, csv.p90]
  const head = [csv.group, groups.name, ...figures, ...figures.map((each) => csv.before({ figure: each }))]
  const rows = groupNames.flatMap((by) =>
    comparison[by].map(({ id, now, before }) => [
      groups.names[by],
      nameOf(by, id),
      ...figuresOf(now),
      ...figuresOf(before),
    ]),
  )
  return [head, ...rows]
}

const figuresOf = (of: AnswerGroup['now']): (string | number)[] => [
  of?.answers ?? 0,
  rounded(of?.medianSeconds),
  rounded(of?.p90Seconds),
]

const rounded = (seconds: number | undefined): string | number => (seconds === undefined ? '' : Math.round(seconds))
