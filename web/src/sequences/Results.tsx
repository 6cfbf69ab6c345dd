import { type Sequence, useSequenceCounts } from '../data/outreach/sequences.ts'
import { t } from '../text/index.ts'
import { formatNumber } from '../ui/format/time.ts'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { Section, SectionTitle } from '../ui/page/Section.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

/** What became of each step, and why runs ended. */
export function Results({ sequence }: { sequence: Sequence }) {
  const texts = t.sequences
  const query = useSequenceCounts(useWorkspaceId(), sequence.id)
  return (
    <QueryBoundary query={query}>
      {({ started, active, steps, ended }) => {
        if (started === 0) return <EmptyState title={texts.noRuns} help={texts.noRunsHelp} />
        const rows = steps.map((counts, n) => ({ ...counts, n: n + 1, kind: kindOf(sequence, n) }))
        return (
          <SectionTitle value="h2">
            <Section title={texts.byStep} help={texts.startedHelp({ started, active })}>
              <Table label={texts.byStep} columns={columns()} rows={rows} keyOf={({ n }) => String(n)} />
            </Section>
            {ended.length > 0 && (
              <Section title={texts.ends}>
                <Table
                  label={texts.ends}
                  rows={ended}
                  keyOf={({ reason }) => reason}
                  columns={[
                    { key: 'reason', title: texts.reason, cell: ({ reason }) => texts.reasons[reason] },
                    { key: 'count', title: texts.leads, cell: ({ count }) => formatNumber(count), numeric: true },
                  ]}
                />
              </Section>
            )}
          </SectionTitle>
        )
      }}
    </QueryBoundary>
  )
}

/** The template of a step, or its text. */
const kindOf = ({ steps }: Sequence, n: number): string =>
  steps[n]?.template?.name.replaceAll('_', ' ') ?? steps[n]?.text ?? ''

type Row = { n: number; kind: string } & Record<'reached' | 'sent' | 'failed' | 'skipped' | 'answered', number>

const columns = (): Column<Row>[] => [
  {
    key: 'step',
    title: t.sequences.step,
    cell: ({ n, kind }) => `${n}. ${kind.length > 60 ? `${kind.slice(0, 60)}…` : kind}`,
    long: true,
  },
  ...(['reached', 'sent', 'answered', 'skipped', 'failed'] as const).map((key) => ({
    key,
    title: t.sequences.counts[key],
    cell: (row: Row) => formatNumber(row[key]),
    numeric: true,
    optional: key === 'reached' || key === 'failed',
  })),
]
