import { Button, Radio, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { labelColorValues } from '../api/schema.ts'
import { changeLabel, createLabel, deleteLabel, type Label, labelsKey } from '../data/labels.ts'
import { t } from '../text/index.ts'
import { type LabelColor, LabelDot } from '../ui/LabelDot.tsx'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { showError } from '../ui/overlay/toasts.tsx'
import { PanelButtons } from '../ui/page/PanelButtons.tsx'
import { SidePanel } from '../ui/page/SidePanel.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './List.module.css'

interface LabelPanelProps {
  /** Null for a new label. */
  label: Label | null
  close(): void
}

export function LabelPanel({ label, close }: LabelPanelProps) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.labels
  const queries = useQueryClient()
  const [isConfirming, setConfirming] = useState(false)
  const draft = useDraft({ name: label?.name ?? '', color: label?.color ?? ('indigo' as LabelColor) })
  const { value, set, errorOf } = draft
  const done = async () => {
    await queries.invalidateQueries({ queryKey: labelsKey(workspaceId) })
    close()
  }
  const save = useMutation({
    mutationFn: async () => {
      const next = { ...value, name: value.name.trim() }
      if (label === null) await createLabel(workspaceId, next)
      else await changeLabel(workspaceId, label.id, next)
    },
    onSuccess: done,
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <SidePanel
      title={label === null ? texts.create : texts.change({ name: label.name })}
      close={close}
      submit={() => save.mutate()}
      footer={
        <>
          {label !== null && (
            <Button variant="default" c="var(--bad)" mr="auto" onClick={() => setConfirming(true)}>
              {t.common.delete}
            </Button>
          )}
          <PanelButtons close={close} action={t.common.save} isBusy={save.isPending} />
        </>
      }
    >
      <TextInput
        label={texts.name}
        value={value.name}
        maxLength={50}
        onChange={(event) => set({ name: event.currentTarget.value })}
        error={errorOf('name')}
        data-autofocus
      />
      <Radio.Group label={texts.color} value={value.color} onChange={(color) => set({ color: color as LabelColor })}>
        <Stack gap={8} mt={6}>
          {labelColorValues.map((color) => (
            <Radio
              key={color}
              value={color}
              label={
                <span className={styles.label}>
                  <LabelDot color={color} />
                  {texts.colors[color]}
                </span>
              }
            />
          ))}
        </Stack>
      </Radio.Group>
      {isConfirming && label !== null && (
        <Confirm
          title={texts.deleteConfirm({ name: label.name })}
          action={t.common.delete}
          confirmText={label.name}
          run={() => deleteLabel(workspaceId, label.id).then(done, showError)}
          close={() => setConfirming(false)}
        >
          {texts.deleteHelp}
        </Confirm>
      )}
    </SidePanel>
  )
}
