import type { Agent } from '../data/team/agent-numbers.ts'
import { t } from '../text/index.ts'
import dashboard from '../ui/charts/Dashboard.module.css'
import { formatNumber } from '../ui/format/time.ts'
import { type Column, Table } from '../ui/page/Table.tsx'
import { formatFraction } from './NumberFigures.tsx'
import { fractionOf, type ShareName, shareOf } from './number-rules.ts'

type Version = Agent['versions'][number]

/** Returns the name of a version of the instructions: version 3, or version 3 of all agents. */
export function versionName({ keyId, version }: Pick<Version, 'keyId' | 'version'>): string {
  if (version === null) return t.review.noInstructions
  return keyId === null ? t.review.sharedVersion({ n: version }) : t.review.version({ n: version })
}

/** The same numbers by version of the instructions. */
export function VersionTable({ agent }: { agent: Agent }) {
  if (agent.versions.length === 0) return null
  const share = (name: ShareName): Column<Version> => ({
    key: name,
    title: t.review.numbers[name],
    numeric: true,
    cell: (row) => {
      const fraction = fractionOf(shareOf({ ...agent, ...row, keyId: agent.keyId }, name))
      return fraction === null ? '–' : `${formatFraction(fraction)} (${formatNumber(row.outcomes[name as 'resolved'])})`
    },
  })
  const columns: Column<Version>[] = [
    { key: 'name', title: t.review.instructions, cell: versionName },
    { key: 'cases', title: t.review.cases, numeric: true, cell: ({ cases }) => formatNumber(cases) },
    share('resolved'),
    { ...share('handed_over'), optional: true },
    share('taken_over'),
    { ...share('silent'), optional: true },
  ]
  return (
    <section className={dashboard.card} aria-label={t.review.byVersion}>
      <h2 className={dashboard.title}>{t.review.byVersion}</h2>
      <Table label={t.review.byVersion} columns={columns} rows={agent.versions} keyOf={({ id }) => id ?? ''} />
    </section>
  )
}
