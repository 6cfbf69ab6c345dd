import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useRef } from 'react'
import { createForm, type FormSettings, useUpdateFormCache } from '../data/forms.ts'
import { LeaveDialog } from '../shared/LeaveDialog.tsx'
import { t } from '../text/index.ts'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { BackLink } from '../ui/page/BackLink.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { useShortcuts } from '../ui/shortcuts.ts'
import { useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { Builder } from './Builder.tsx'
import { draftFrom, settingsOf } from './draft.ts'

/** Unsaved form: nothing is created until it is saved. */
export function NewForm() {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const changed = useUpdateFormCache(workspaceId)
  const draft = useDraft(draftFrom(sampleForm()))
  const isSaved = useRef(false)
  const save = useMutation({
    mutationFn: () => createForm(workspaceId, settingsOf(draft.value)),
    onSuccess: (form) => {
      isSaved.current = true
      changed(form)
      showToast(t.forms.saved)
      void navigate({ to: '/w/$workspaceId/forms/$formId', params: { workspaceId, formId: form.id }, replace: true })
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  const { mutate, isPending } = save
  useShortcuts(
    t.forms.title,
    useMemo(
      () => [{ keys: 'mod+s', label: t.common.save, run: () => isPending || mutate(), inFields: true }],
      [isPending, mutate],
    ),
  )
  return (
    <>
      <PageHeader
        title={t.forms.create}
        before={<BackLink path="forms" label={t.forms.title} />}
        action={
          <Button onClick={() => mutate()} loading={isPending}>
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
