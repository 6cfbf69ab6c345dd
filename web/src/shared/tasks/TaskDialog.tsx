import { Button, Group, Select, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { usePeople } from '../../data/people.ts'
import { type Task, useTaskActions } from '../../data/team/tasks.ts'
import { timeZone } from '../../data/time-zone.ts'
import { useWorkspace } from '../../data/workspace.ts'
import { currentUser } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { textField } from '../../ui/draft-fields.ts'
import { localMinute } from '../../ui/format/local-time.ts'
import { zoneTime } from '../../ui/format/zone-time.ts'
import { Dialog } from '../../ui/overlay/Dialog.tsx'
import { showError } from '../../ui/overlay/toasts.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { Form } from '../Form.tsx'

interface TaskDialogProps {
  /** The task to change; null creates one. */
  task: Task | null
  /** What a new one is about. */
  about?: { leadId?: string; conversationId?: string }
  close(): void
}

/** Creates or changes a task. */
export default function TaskDialog({ task, about = {}, close }: TaskDialogProps) {
  const workspaceId = useWorkspaceId()
  const texts = t.tasks
  const { members } = usePeople(workspaceId)
  const { create, change, remove } = useTaskActions(workspaceId)
  const zone = useWorkspace(workspaceId).data?.hours?.timeZone ?? timeZone()
  const [now] = useState(() => new Date())
  const draft = useDraft({
    title: task?.title ?? '',
    due: localMinute(task?.dueAt ?? zoneTime(now, zone, 1, 9).toISOString()),
    person: task === null ? currentUser().id : (task.assignedTo?.id ?? null),
  })
  const { title, due, person } = draft.value
  const [isBusy, setBusy] = useState(false)
  const dueAt = new Date(due)
  const canSave = title.trim() !== '' && !Number.isNaN(dueAt.getTime())
  const run = (work: Promise<unknown>) => {
    setBusy(true)
    void work.then(close, showError).finally(() => setBusy(false))
  }
  const submit = () => {
    if (!canSave || isBusy) return
    const fields = { title: title.trim(), dueAt: dueAt.toISOString(), assignedTo: person }
    run(task === null ? create({ ...fields, ...about }) : change(task.id, fields))
  }
  return (
    <Dialog close={close} title={task === null ? texts.create : texts.edit}>
      <Form submit={submit}>
        <Stack gap="sm">
          <TextInput label={texts.what} maxLength={300} data-autofocus {...textField(draft, 'title')} />
          <TextInput label={texts.due} type="datetime-local" {...textField(draft, 'due')} />
          <Select
            label={texts.person}
            placeholder={texts.anyone}
            value={person}
            clearable
            onChange={(id) => draft.set({ person: id })}
            data={members.map(({ id, name }) => ({ value: id, label: name }))}
          />
          <Group justify="space-between">
            {task === null ? (
              <span />
            ) : (
              <Button variant="subtle" color="red" disabled={isBusy} onClick={() => run(remove(task.id))}>
                {t.common.delete}
              </Button>
            )}
            <Button type="submit" disabled={!canSave} loading={isBusy}>
              {task === null ? t.common.create : t.common.save}
            </Button>
          </Group>
        </Stack>
      </Form>
    </Dialog>
  )
}
