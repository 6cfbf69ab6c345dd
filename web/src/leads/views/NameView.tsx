import { Checkbox, Group, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Form } from '../../shared/Form.tsx'
import { t } from '../../text/index.ts'
import { textField } from '../../ui/draft-fields.ts'
import { Dialog } from '../../ui/overlay/Dialog.tsx'
import { showError } from '../../ui/overlay/toasts.tsx'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import type { NewView } from './use-views.ts'

interface NameViewProps {
  title: string
  name: string
  /** Whether the view may be shared, which adds that choice. */
  mayShare: boolean
  save(view: NewView): Promise<void>
  close(): void
}

/** Asks for the name of a view, and whether it is shared. */
export default function NameView({ title, name: before, mayShare, save, close }: NameViewProps) {
  const draft = useDraft({ name: before, shared: false })
  const [isSaving, setSaving] = useState(false)
  const { name, shared } = draft.value
  const submit = async () => {
    setSaving(true)
    await save({ name: name.trim(), shared }).then(close, (error) => draft.applyError(error) || showError(error))
    setSaving(false)
  }
  return (
    <Dialog close={close} title={title}>
      <Form submit={submit}>
        <Stack>
          <TextInput label={t.leads.viewName} {...textField(draft, 'name')} data-autofocus maxLength={80} />
          {mayShare && (
            <Checkbox
              label={t.leads.viewShared}
              checked={shared}
              onChange={(event) => draft.set({ shared: event.currentTarget.checked })}
            />
          )}
          <Group justify="flex-end" gap="xs">
            <PanelButtons close={close} action={t.common.save} isBusy={isSaving} disabled={name.trim() === ''} />
          </Group>
        </Stack>
      </Form>
    </Dialog>
  )
}
