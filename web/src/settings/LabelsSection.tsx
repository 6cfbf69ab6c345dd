import { Radio, Stack, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { labelColorValues } from '../api/schema.ts'
import { changeLabel, createLabel, deleteLabel, type Label, labelsKey, useLabels } from '../data/labels.ts'
import { hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { textField, useSave } from '../ui/draft-fields.ts'
import { type LabelColor, LabelDot } from '../ui/LabelDot.tsx'
import { showError } from '../ui/overlay/toasts.tsx'
import { Table } from '../ui/page/Table.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { EditPanel } from './draft/EditPanel.tsx'
import styles from './List.module.css'
import { ItemList } from './parts/ItemList.tsx'

export function LabelsSection() {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.labels
  const query = useLabels(workspaceId)
  const mayChange = hasRole(workspaceId, 'admin')
  return (
    <ItemList
      query={query}
      create={mayChange ? texts.create : null}
      empty={texts.empty}
      panel={(label, close) => <LabelPanel label={label} close={close} />}
    >
      {(labels, open) => (
        <Table
          label={t.settings.sections.labels.title}
          rows={labels}
          keyOf={({ id }) => id}
          {...(mayChange && { open })}
          columns={[
            { key: 'name', title: texts.name, cell: ({ name, color }) => <DotAndText color={color} text={name} /> },
            { key: 'color', title: texts.color, cell: ({ color }) => texts.colors[color] },
          ]}
        />
      )}
    </ItemList>
  )
}

const DotAndText = ({ color, text }: { color: LabelColor; text: string }) => (
  <span className={styles.label}>
    <LabelDot color={color} />
    {text}
  </span>
)

/** Edits a label, or creates one for null. */
function LabelPanel({ label, close }: { label: Label | null; close(): void }) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.labels
  const queries = useQueryClient()
  const draft = useDraft({ name: label?.name ?? '', color: label?.color ?? ('indigo' as LabelColor) })
  const { value, set } = draft
  const done = async () => {
    await queries.invalidateQueries({ queryKey: labelsKey(workspaceId) })
    close()
  }
  const send = async () => {
    const next = { ...value, name: value.name.trim() }
    if (label === null) await createLabel(workspaceId, next)
    else await changeLabel(workspaceId, label.id, next)
  }
  const save = useSave(draft, send, done)
  return (
    <EditPanel
      title={label === null ? texts.create : texts.change({ name: label.name })}
      close={close}
      save={save}
      remove={
        label !== null && {
          title: texts.deleteConfirm({ name: label.name }),
          help: texts.deleteHelp,
          confirmText: label.name,
          run: () => deleteLabel(workspaceId, label.id).then(done, showError),
        }
      }
    >
      <TextInput label={texts.name} {...textField(draft, 'name')} maxLength={50} data-autofocus />
      <Radio.Group label={texts.color} value={value.color} onChange={(color) => set({ color: color as LabelColor })}>
        <Stack gap={8} mt={6}>
          {labelColorValues.map((color) => (
            <Radio key={color} value={color} label={<DotAndText color={color} text={texts.colors[color]} />} />
          ))}
        </Stack>
      </Radio.Group>
    </EditPanel>
  )
}
