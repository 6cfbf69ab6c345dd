import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { type Form, type ListedForm, useForms, useLiveForms } from '../data/forms.ts'
import { hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { Chip } from '../ui/Chip.tsx'
import { formatDateTime, formatNumber, timeAgo } from '../ui/format/time.ts'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useShortcuts } from '../ui/shortcuts.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

export function FormsPage() {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const query = useForms(workspaceId)
  const mayChange = hasRole(workspaceId, 'admin')
  useLiveForms(workspaceId)
  const open = useCallback(
    (formId: string) => void navigate({ to: '/w/$workspaceId/forms/$formId', params: { workspaceId, formId } }),
    [navigate, workspaceId],
  )
  const create = useCallback(() => open('new'), [open])
  useShortcuts(
    t.forms.title,
    useMemo(() => (mayChange ? [{ keys: 'c', label: t.forms.create, run: create }] : []), [mayChange, create]),
  )
  return (
    <>
      <PageHeader
        title={t.forms.title}
        action={
          mayChange && (
            <Button leftSection={<IconPlus size={16} />} onClick={create}>
              {t.forms.create}
            </Button>
          )
        }
      />
      <PageBody>
        <QueryBoundary query={query}>
          {(forms) =>
            forms.length === 0 ? (
              <EmptyState
                title={t.forms.empty}
                {...(mayChange && { action: { label: t.forms.create, run: create } })}
              />
            ) : (
              <Table
                label={t.forms.title}
                columns={columns()}
                rows={forms}
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

const columns = (): Column<ListedForm>[] => [
  { key: 'name', title: t.forms.name, cell: ({ name }) => name },
  { key: 'state', title: t.forms.state, cell: ({ active }) => <StateChip active={active} /> },
  { key: 'link', title: t.forms.link, cell: ({ slug }) => <code>/f/{slug}</code>, optional: true },
  {
    key: 'sent',
    title: t.forms.sent,
    cell: ({ submissionCount }) => formatNumber(submissionCount),
    numeric: true,
  },
  {
    key: 'last',
    title: t.forms.lastSent,
    cell: ({ lastSubmissionAt: at }) =>
      at === null ? t.forms.never : <span title={formatDateTime(at)}>{timeAgo(at)}</span>,
    optional: true,
  },
]

export function StateChip({ active }: Pick<Form, 'active'>) {
  return <Chip tone={active ? 'good' : 'plain'}>{active ? t.forms.open : t.forms.closed}</Chip>
}
