import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import {
  createForm,
  type Form,
  type FormSettings,
  type ListedForm,
  useFormChanged,
  useForms,
  useFreshForms,
} from '../data/forms.ts'
import { mayIn } from '../session/session.ts'
import { t } from '../text/index.ts'
import { Chip } from '../ui/Chip.tsx'
import { ago, fullMoment, number } from '../ui/format/time.ts'
import { useKeys } from '../ui/keys.ts'
import { complain } from '../ui/overlay/notices.tsx'
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
  const changed = useFormChanged(workspaceId)
  const mayChange = mayIn(workspaceId, 'admin')
  useFreshForms(workspaceId)
  const open = (formId: string) =>
    void navigate({ to: '/w/$workspaceId/forms/$formId', params: { workspaceId, formId } })
  const create = useMutation({
    mutationFn: () => createForm(workspaceId, sampleForm()),
    onSuccess: (form) => {
      changed(form)
      open(form.id)
    },
    onError: complain,
  })
  const make = create.mutate
  useKeys(
    t.forms.title,
    useMemo(() => (mayChange ? [{ keys: 'c', label: t.forms.make, run: () => make() }] : []), [mayChange, make]),
  )
  return (
    <>
      <PageHeader
        title={t.forms.title}
        action={
          mayChange && (
            <Button leftSection={<IconPlus size={16} />} loading={create.isPending} onClick={() => make()}>
              {t.forms.make}
            </Button>
          )
        }
      />
      <PageBody>
        <Loaded query={query}>
          {(forms) =>
            forms.length === 0 ? (
              <Empty title={t.forms.empty} {...(mayChange && { action: { label: t.forms.make, run: () => make() } })} />
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

/** What a new form begins with: enough to be sent, and closed until somebody opens it. */
const sampleForm = (): Omit<FormSettings, 'slug'> => ({
  name: t.forms.newName,
  title: t.forms.newTitle,
  description: null,
  fields: [
    { key: 'firstName', label: t.forms.leadFields.firstName, type: 'text', required: true },
    { key: 'phone', label: t.forms.leadFields.phone, type: 'phone', required: true },
  ],
  submitLabel: t.forms.newSubmit,
  thankYou: t.forms.newThanks,
  redirectUrl: null,
  allowedOrigins: [],
  source: 'website',
  status: 'new',
  active: false,
})
