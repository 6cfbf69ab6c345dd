import { ActionIcon, Button, Group, Menu } from '@mantine/core'
import { IconDots, IconTrash } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import {
  changeForm,
  type Form,
  removeForm,
  useForms,
  useLiveForms,
  useRemoveFormFromCache,
  useUpdateFormCache,
} from '../data/forms.ts'
import { hasRole } from '../session/session.ts'
import { LeaveDialog } from '../shared/LeaveDialog.tsx'
import { t } from '../text/index.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { BackLink } from '../ui/page/BackLink.tsx'
import { ErrorState } from '../ui/page/ErrorState.tsx'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { Segments } from '../ui/page/Segments.tsx'
import { useShortcuts } from '../ui/shortcuts.ts'
import { useDraft } from '../ui/use-draft.ts'
import { useChangeSearch } from '../ui/use-newest-search.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { Builder } from './Builder.tsx'
import { draftOf, settingsOf } from './draft.ts'
import { StateChip } from './FormsPage.tsx'
import { NewForm } from './NewForm.tsx'
import { ShareView } from './ShareView.tsx'
import { SubmissionsView } from './SubmissionsView.tsx'
import { type FormSearch, formViews, readFormSearch } from './search.ts'

/** Page of a form: editor, sharing, submissions. */
export function FormPage() {
  const workspaceId = useWorkspaceId()
  const { formId = '' } = useParams({ strict: false })
  const query = useForms(workspaceId)
  useLiveForms(workspaceId)
  const form = query.data?.find(({ id }) => id === formId)
  if (formId === 'new' && hasRole(workspaceId, 'admin')) return <NewForm />
  if (form !== undefined) return <FormView key={formId} form={form} />
  return (
    <>
      <PageHeader title={t.forms.title} before={<BackLink path="forms" label={t.forms.title} />} />
      <QueryBoundary query={query}>{() => <ErrorState error={new ApiError(404, '')} />}</QueryBoundary>
    </>
  )
}

function FormView({ form }: { form: Form }) {
  const workspaceId = useWorkspaceId()
  const search: FormSearch = useSearch({ strict: false })
  const changeSearch = useChangeSearch(readFormSearch)
  const changed = useUpdateFormCache(workspaceId)
  const draft = useDraft(draftOf(form))
  const [isRemoving, setRemoving] = useState(false)
  const mayChange = hasRole(workspaceId, 'admin')
  const view = search.view ?? (mayChange ? 'build' : 'share')
  const save = useMutation({
    mutationFn: () => changeForm(workspaceId, form.id, settingsOf(draft.value)),
    onSuccess: (saved) => {
      draft.reset(draftOf(saved))
      changed(saved)
      showToast(t.forms.saved)
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  const { mutate } = save
  useShortcuts(
    t.forms.title,
    useMemo(
      () => (mayChange ? [{ keys: 'mod+s', label: t.common.save, run: () => mutate(), inFields: true }] : []),
      [mayChange, mutate],
    ),
  )
  const views = formViews.filter((one) => mayChange || one !== 'build')
  return (
    <>
      <PageHeader
        title={form.name}
        before={<BackLink path="forms" label={t.forms.title} />}
        action={
          mayChange && (
            <Group gap="xs" wrap="nowrap">
              <Button onClick={() => mutate()} loading={save.isPending} disabled={!draft.isChanged}>
                {t.common.save}
              </Button>
              <MoreMenu remove={() => setRemoving(true)} />
            </Group>
          )
        }
      >
        <StateChip active={form.active} />
      </PageHeader>
      <Group m="8px 16px">
        <Segments
          label={t.forms.view}
          data={views.map((value) => ({ value, label: t.forms.views[value] }))}
          value={view}
          onChange={(chosen) => changeSearch(() => ({ view: chosen }), { replace: true })}
        />
      </Group>
      {view === 'build' && <Builder draft={draft} />}
      {view === 'share' && <ShareView form={form} />}
      {view === 'submissions' && <SubmissionsView form={form} />}
      <LeaveDialog
        help={t.forms.leaveHelp}
        isChanged={draft.isChanged && !isRemoving}
        shouldStay={(place) => place.endsWith(form.id)}
      />
      {isRemoving && <RemoveDialog form={form} close={() => setRemoving(false)} />}
    </>
  )
}

function MoreMenu({ remove }: { remove(): void }) {
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <ActionIcon variant="default" size={36} aria-label={t.common.more}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconTrash size={16} />} onClick={remove}>
          {t.forms.remove}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

function RemoveDialog({ form, close }: { form: Form; close(): void }) {
  const workspaceId = useWorkspaceId()
  const removeFromCache = useRemoveFormFromCache(workspaceId)
  const navigate = useNavigate()
  const run = () =>
    removeForm(workspaceId, form.id).then(async () => {
      await navigate({ to: '/w/$workspaceId/forms', params: { workspaceId } })
      removeFromCache(form.id)
      showToast(t.forms.removed({ name: form.name }))
    }, showError)
  return (
    <Confirm
      title={t.forms.removeConfirm({ name: form.name })}
      action={t.forms.remove}
      confirmText={form.name}
      run={run}
      close={close}
    >
      {t.forms.removeHelp}
    </Confirm>
  )
}
