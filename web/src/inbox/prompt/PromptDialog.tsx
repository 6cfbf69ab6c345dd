import { Group, Select, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { Reply } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { Dialog } from '../../ui/overlay/Dialog.tsx'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import {
  emptyForm,
  fieldsOf,
  type PromptForm,
  type PromptType,
  promptLimits,
  promptProblem,
  promptReply,
  promptTypes,
} from './prompt-reply.ts'

interface PromptDialogProps {
  close(): void
  send(reply: Reply, text: string): void
}

/** Writes a message with one button: a link, a request for a location or the phone number, or a form. */
export default function PromptDialog({ close, send }: PromptDialogProps) {
  const texts = t.prompt
  const [type, setType] = useState<PromptType>('link')
  const [form, setForm] = useState(emptyForm)
  const [isTried, setTried] = useState(false)
  const fields = fieldsOf[type]
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (fields.some((field) => promptProblem(field, form[field]) !== null)) return
    send(promptReply(type, form), form.text.trim())
    close()
  }
  return (
    <Dialog close={close} title={t.attach.prompt}>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <Select
            label={texts.type}
            data={promptTypes.map((value) => ({ value, label: texts.types[value] }))}
            value={type}
            onChange={(value) => setType(promptTypes.find((one) => one === value) ?? type)}
            allowDeselect={false}
          />
          {fields.map((field) => (
            <PromptField
              key={field}
              field={field}
              value={form[field]}
              change={(value) => setForm((before) => ({ ...before, [field]: value }))}
              isTried={isTried}
            />
          ))}
          <Text size="sm" c="dimmed">
            {texts.help[type]}
          </Text>
          <Group justify="flex-end">
            <PanelButtons close={close} action={t.compose.send} isBusy={false} />
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}

interface PromptFieldProps {
  field: keyof PromptForm
  value: string
  change(value: string): void
  isTried: boolean
}

function PromptField({ field, value, change, isTried }: PromptFieldProps) {
  const problem = promptProblem(field, value)
  const shared = {
    label: t.prompt.fields[field],
    value,
    maxLength: promptLimits[field],
    error: isTried && problem !== null ? t.prompt.problems[problem] : undefined,
    dir: 'auto',
  }
  if (field === 'text')
    return (
      <Textarea {...shared} autosize minRows={2} maxRows={8} onChange={(event) => change(event.currentTarget.value)} />
    )
  return (
    <TextInput
      {...shared}
      {...(field === 'url' && { type: 'url', placeholder: 'https://' })}
      onChange={(event) => change(event.currentTarget.value)}
    />
  )
}
