import { Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ApiKey, changeKey, useInvalidateKeys } from '../data/keys.ts'
import { t } from '../text/index.ts'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { PanelButtons } from '../ui/page/PanelButtons.tsx'
import { SidePanel } from '../ui/page/SidePanel.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { AllowlistField, addressesIn, ConnectionField, ScopeBoxes } from './KeyFields.tsx'
import { mayAnswer } from './presets.ts'

/** Edits the name and permissions of a key. */
export function EditKeyPanel({ apiKey, close }: { apiKey: ApiKey; close(): void }) {
  const workspaceId = useWorkspaceId()
  const changed = useInvalidateKeys(workspaceId)
  const { name, scopes, connectionIds, allowlist } = apiKey
  const draft = useDraft({ name, scopes, connectionIds, allowlist: allowlist.join('\n') })
  const { value, set, errorOf } = draft
  const save = useMutation({
    mutationFn: () =>
      changeKey(workspaceId, apiKey.id, {
        ...value,
        name: value.name.trim(),
        allowlist: addressesIn(value.allowlist),
      }),
    onSuccess: async () => {
      showToast(t.keys.saved)
      await changed()
      close()
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <SidePanel
      title={t.keys.editOf({ name: apiKey.name })}
      close={close}
      submit={() => save.mutate()}
      footer={<PanelButtons close={close} action={t.common.save} isBusy={save.isPending} disabled={!draft.isChanged} />}
    >
      <TextInput
        label={t.keys.name}
        description={t.keys.nameHelp}
        value={value.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
        error={errorOf('name')}
        data-autofocus
      />
      <ScopeBoxes draft={draft} />
      {mayAnswer(scopes) && !mayAnswer(value.scopes) && (
        <Text size="sm" role="status">
          {t.keys.losesAnswering}
        </Text>
      )}
      <ConnectionField draft={draft} />
      <AllowlistField draft={draft} />
    </SidePanel>
  )
}
