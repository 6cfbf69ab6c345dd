import { Button, NumberInput, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { KeyboardEvent } from 'react'
import { type ApiKey, changeKey, useKeysChanged } from '../data/keys.ts'
import { t } from '../text/index.ts'
import { complain, say } from '../ui/overlay/notices.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

interface KeyLimitsProps {
  apiKey: ApiKey
  mayChange: boolean
}

/** How much the key may send; an empty field is the usual. */
export function KeyLimits({ apiKey, mayChange }: KeyLimitsProps) {
  const workspaceId = useWorkspaceId()
  const changed = useKeysChanged(workspaceId)
  const draft = useDraft(draftOf(apiKey))
  const { value, set, errorOf } = draft
  const change = useMutation({
    mutationFn: () =>
      changeKey(workspaceId, apiKey.id, {
        unansweredSends: numberOf(value.unansweredSends),
        dailySends: numberOf(value.dailySends),
      }),
    onSuccess: async ({ key }) => {
      draft.reset(draftOf(key))
      say(t.keys.limitsSaved)
      await changed()
    },
    onError: (error) => draft.refuse(error) || complain(error),
  })
  const saveByEnter = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && draft.isChanged) change.mutate()
  }
  return (
    <Stack gap="sm" role="group" aria-label={t.keys.limits}>
      <NumberInput
        label={t.keys.unanswered}
        description={t.keys.unansweredHelp}
        placeholder="3"
        min={1}
        max={50}
        allowDecimal={false}
        value={value.unansweredSends}
        onChange={(unansweredSends) => set({ unansweredSends })}
        onKeyDown={saveByEnter}
        error={errorOf('unansweredSends')}
        disabled={!mayChange}
      />
      <NumberInput
        label={t.keys.daily}
        description={t.keys.dailyHelp}
        placeholder="1000"
        min={1}
        max={100_000}
        allowDecimal={false}
        value={value.dailySends}
        onChange={(dailySends) => set({ dailySends })}
        onKeyDown={saveByEnter}
        error={errorOf('dailySends')}
        disabled={!mayChange}
      />
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

interface LimitsDraft {
  unansweredSends: number | string
  dailySends: number | string
}

const draftOf = ({ unansweredSends, dailySends }: ApiKey): LimitsDraft => ({
  unansweredSends: unansweredSends ?? '',
  dailySends: dailySends ?? '',
})

const numberOf = (typed: number | string): number | null => (typed === '' ? null : Number(typed))
