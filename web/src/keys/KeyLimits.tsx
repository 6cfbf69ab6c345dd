import { Button, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { KeyboardEvent } from 'react'
import { type ApiKey, changeKey, useInvalidateKeys } from '../data/keys.ts'
import { t } from '../text/index.ts'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { LimitFields, type LimitsDraft, limitsIn } from './LimitFields.tsx'

interface KeyLimitsProps {
  apiKey: ApiKey
  mayChange: boolean
}

/** Limits and agent settings of the key; an empty field means the default. */
export function KeyLimits({ apiKey, mayChange }: KeyLimitsProps) {
  const workspaceId = useWorkspaceId()
  const changed = useInvalidateKeys(workspaceId)
  const draft = useDraft(draftOf(apiKey))
  const change = useMutation({
    mutationFn: () => changeKey(workspaceId, apiKey.id, limitsIn(draft.value)),
    onSuccess: async ({ key }) => {
      draft.reset(draftOf(key))
      showToast(t.keys.limitsSaved)
      await changed()
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  const saveByEnter = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && draft.isChanged) change.mutate()
  }
  return (
    <Stack gap="sm" role="group" aria-label={t.keys.limits}>
      <LimitFields draft={draft} disabled={!mayChange} onKeyDown={saveByEnter} />
      {mayChange && (
        <Button
          variant="default"
          w="fit-content"
          disabled={!draft.isChanged}
          loading={change.isPending}
          onClick={() => change.mutate()}
        >
          {t.common.save}
        </Button>
      )}
    </Stack>
  )
}

const draftOf = ({ unansweredSends, dailySends, quietSeconds, maxParts, showTyping }: ApiKey): LimitsDraft => ({
  unansweredSends: unansweredSends ?? '',
  dailySends: dailySends ?? '',
  quietSeconds: quietSeconds ?? '',
  maxParts: maxParts ?? '',
  showTyping,
})
