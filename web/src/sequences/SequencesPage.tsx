import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { type Sequence, useSequences } from '../data/outreach/sequences.ts'
import { hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { Chip } from '../ui/Chip.tsx'
import { formatNumber } from '../ui/format/time.ts'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useShortcut } from '../ui/shortcuts.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

/** Messages to leads over days, until they answer. */
export function SequencesPage() {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const texts = t.sequences
  const query = useSequences(workspaceId, { isLive: true })
  const mayChange = hasRole(workspaceId, 'admin')
  const open = (sequenceId: string) =>
    void navigate({ to: '/w/$workspaceId/sequences/$sequenceId', params: { workspaceId, sequenceId } })
  const create = () => open('new')
  useShortcut(texts.title, { keys: 'c', label: texts.create, run: create }, mayChange)
  return (
    <>
      <PageHeader
        title={texts.title}
        action={
          mayChange && (
            <Button leftSection={<IconPlus size={16} />} onClick={create}>
              {texts.create}
            </Button>
          )
        }
      />
      <PageBody>
        <QueryBoundary query={query}>
          {(sequences) =>
            sequences.length === 0 ? (
              <EmptyState
                title={texts.empty}
                help={texts.emptyHelp}
                {...(mayChange && { action: { label: texts.create, run: create } })}
              />
            ) : (
              <Table
                label={texts.title}
                columns={columns()}
                rows={sequences}
                keyOf={({ id }) => id}
                open={({ id }) => open(id)}
              />
            )
          }
        </QueryBoundary>
      </PageBody>
    </>
  )
}

const columns = (): Column<Sequence>[] => [
  { key: 'name', title: t.sequences.name, cell: ({ name }) => name },
  { key: 'state', title: t.sequences.state, cell: (sequence) => <StateChip sequence={sequence} /> },
  { key: 'steps', title: t.sequences.steps, cell: ({ steps }) => formatNumber(steps.length), numeric: true },
  {
    key: 'active',
    title: t.sequences.active,
    cell: ({ activeRuns }) => formatNumber(activeRuns),
    numeric: true,
  },
]

export function StateChip({ sequence: { enabled, problems } }: { sequence: Pick<Sequence, 'enabled' | 'problems'> }) {
  if (problems.length > 0) return <Chip tone="bad">{t.sequences.hasProblems}</Chip>
  return <Chip tone={enabled ? 'good' : 'plain'}>{enabled ? t.sequences.on : t.sequences.off}</Chip>
}
