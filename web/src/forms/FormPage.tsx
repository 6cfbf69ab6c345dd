import { Button, Group, Menu, Text } from '@mantine/core'
import { IconDownload, IconExternalLink, IconTrash } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import {
  changeForm,
  createForm,
  type Form,
  type FormSettings,
  removeForm,
  useForms,
  useLiveForms,
  useRemoveFormFromCache,
  useUpdateFormCache,
} from '../data/forms.ts'
import { hasRole } from '../session/session.ts'
import { LeaveDialog } from '../shared/LeaveDialog.tsx'
import { t } from '../text/index.ts'
import { CodeBlock } from '../ui/CodeBlock.tsx'
import { Copyable } from '../ui/Copyable.tsx'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { BackLink } from '../ui/page/BackLink.tsx'
import { ErrorState } from '../ui/page/ErrorState.tsx'
import { MoreMenu } from '../ui/page/MoreMenu.tsx'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { Segments } from '../ui/page/Segments.tsx'
import { QrCode, saveQrCode } from '../ui/QrCode.tsx'
import { useShortcuts } from '../ui/shortcuts.ts'
import { type Draft, useDraft } from '../ui/use-draft.ts'
import { useChangeSearch } from '../ui/use-newest-search.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { Builder } from './Builder.tsx'
import { draftFrom, draftOf, type FormDraft, settingsOf } from './draft.ts'
import { StateChip } from './FormsPage.tsx'
import styles from './ShareView.module.css'
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
  const draft = useDraft(draftOf(form))
  const [isRemoving, setRemoving] = useState(false)
  const mayChange = hasRole(workspaceId, 'admin')
  const view = search.view ?? (mayChange ? 'build' : 'share')
  const { save, isSaving } = useSave(
    draft,
    (settings) => changeForm(workspaceId, form.id, settings),
    (saved) => draft.reset(draftOf(saved)),
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
              <Button onClick={() => save()} loading={isSaving} disabled={!draft.isChanged}>
                {t.common.save}
              </Button>
              <MoreMenu>
                <Menu.Item leftSection={<IconTrash size={16} />} onClick={() => setRemoving(true)}>
                  {t.forms.remove}
                </Menu.Item>
              </MoreMenu>
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

/** Saves a form by a button, or by its shortcut for those who may change it; a new one only once. */
function useSave(
  draft: Draft<FormDraft>,
  send: (settings: FormSettings) => Promise<Form>,
  done: (saved: Form) => void,
  isNew = false,
) {
  const workspaceId = useWorkspaceId()
  const cacheForm = useUpdateFormCache(workspaceId)
  const { mutate, isPending } = useMutation({
    mutationFn: () => send(settingsOf(draft.value)),
    onSuccess: (saved) => {
      done(saved)
      cacheForm(saved)
      showToast(t.forms.saved)
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  const mayChange = hasRole(workspaceId, 'admin')
  const isBlocked = isNew && isPending
  useShortcuts(
    t.forms.title,
    useMemo(
      () =>
        mayChange ? [{ keys: 'mod+s', label: t.common.save, run: () => isBlocked || mutate(), inFields: true }] : [],
      [mayChange, isBlocked, mutate],
    ),
  )
  return { save: mutate, isSaving: isPending }
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

/** Unsaved form: nothing is created until it is saved. */
function NewForm() {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const draft = useDraft(draftFrom(sampleForm()))
  const isSaved = useRef(false)
  const { save, isSaving } = useSave(
    draft,
    (settings) => createForm(workspaceId, settings),
    ({ id }) => {
      isSaved.current = true
      void navigate({ to: '/w/$workspaceId/forms/$formId', params: { workspaceId, formId: id }, replace: true })
    },
    true,
  )
  return (
    <>
      <PageHeader
        title={t.forms.create}
        before={<BackLink path="forms" label={t.forms.title} />}
        action={
          <Button onClick={() => save()} loading={isSaving}>
            {t.common.save}
          </Button>
        }
      />
      <Builder draft={draft} />
      <LeaveDialog help={t.forms.leaveHelp} isChanged={draft.isChanged} shouldStay={() => isSaved.current} />
    </>
  )
}

/** Returns the initial values of a new form: complete, but closed until published. */
const sampleForm = (): FormSettings => ({
  name: t.forms.newName,
  // Derived from the title unless it is set.
  slug: '',
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

/** Link, embed code and QR code of a form. */
function ShareView({ form }: { form: Form }) {
  const frame = `<iframe src="${form.url}" title="${escaped(form.title)}" width="100%" height="640" style="border:0"></iframe>`
  return (
    <PageBody narrow>
      <div className={styles.cards}>
        <section className={styles.card}>
          <h2>{t.forms.link}</h2>
          <Text size="sm">{t.forms.linkHelp}</Text>
          <Copyable value={form.url} label={t.forms.link} />
          {form.active && (
            <Button
              component="a"
              href={form.url}
              target="_blank"
              rel="noopener"
              variant="default"
              leftSection={<IconExternalLink size={16} />}
            >
              {t.forms.visit}
            </Button>
          )}
        </section>
        <section className={styles.card}>
          <h2>{t.forms.qr}</h2>
          <div className={styles.qr}>
            <QrCode value={form.url} label={t.forms.qrOf({ name: form.name })} size={180} />
            <Button
              variant="default"
              leftSection={<IconDownload size={16} />}
              onClick={() => saveQrCode(form.url, form.slug)}
            >
              {t.forms.qrSave}
            </Button>
          </div>
        </section>
        <section className={styles.card}>
          <h2>{t.forms.embed}</h2>
          <h3>{t.forms.embedForm}</h3>
          <Text size="sm">{t.forms.embedFormHelp}</Text>
          <CodeBlock label={t.forms.embedForm} value={form.embedHtml} />
          <h3>{t.forms.embedFrame}</h3>
          <Text size="sm">{t.forms.embedFrameHelp}</Text>
          <CodeBlock label={t.forms.embedFrame} value={frame} />
        </section>
      </div>
    </PageBody>
  )
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => entities[sign] ?? sign)
