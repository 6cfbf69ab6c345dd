import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { type Form, type ListedForm, useForms, useFreshForms } from '../data/forms.ts'
import { mayIn } from '../session/session.ts'
import { t } from '../text/index.ts'
import { Chip } from '../ui/Chip.tsx'
import { ago, fullMoment, number } from '../ui/format/time.ts'
import { useKeys } from '../ui/keys.ts'
import { Empty } from '../ui/page/Empty.tsx'
import { Loaded, PageBody } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

/** The forms by which leads come in by themselves. */
export function FormsPage() {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const query = useForms(workspaceId)
  const mayChange = mayIn(workspaceId, 'admin')
  useFreshForms(workspaceId)
  const open = (formId: string) =>
    void navigate({ to: '/w/$workspaceId/forms/$formId', params: { workspaceId, formId } })
  const make = useCallback(
    () => void navigate({ to: '/w/$workspaceId/forms/$formId', params: { workspaceId, formId: 'new' } }),
    [navigate, workspaceId],
  )
  useKeys(
    t.forms.title,
    useMemo(() => (mayChange ? [{ keys: 'c', label: t.forms.make, run: make }] : []), [mayChange, make]),
  )
  return (
    <>
      <PageHeader
        title={t.forms.title}
        action={
          mayChange && (
            <Button leftSection={<IconPlus size={16} />} onClick={make}>
              {t.forms.make}
            </Button>
          )
        }
      />
      <PageBody>
        <Loaded query={query}>
          {(forms) =>
            forms.length === 0 ? (
              <Empty title={t.forms.empty} {...(mayChange && { action: { label: t.forms.make, run: make } })} />
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
        </Loaded>
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
    cell: ({ submissionCount }) => number(submissionCount),
    numeric: true,
  },
  {
    key: 'last',
    title: t.forms.lastSent,
    cell: ({ lastSubmissionAt: at }) => (at === null ? t.forms.never : <span title={fullMoment(at)}>{ago(at)}</span>),
    optional: true,
  },
]

export function StateChip({ active }: Pick<Form, 'active'>) {
  return <Chip tone={active ? 'good' : 'plain'}>{active ? t.forms.open : t.forms.closed}</Chip>
}
