import { NumberInput, Switch } from '@mantine/core'
import type { KeyboardEvent } from 'react'
import { useWorkspace } from '../data/workspace.ts'
import { t } from '../text/index.ts'
import type { Draft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

/** Limits and agent settings of a key, as entered; an empty field means the default. */
export interface LimitsDraft {
  unansweredSends: number | string
  dailySends: number | string
  quietSeconds: number | string
  maxParts: number | string
  showTyping: boolean
}

export const limitNames = ['unansweredSends', 'dailySends', 'quietSeconds', 'maxParts'] as const
type LimitName = (typeof limitNames)[number]

export const blankLimits: LimitsDraft = {
  unansweredSends: '',
  dailySends: '',
  quietSeconds: '',
  maxParts: '',
  showTyping: false,
}

interface LimitFieldsProps {
  draft: Pick<Draft<LimitsDraft>, 'value' | 'set' | 'errorOf'>
  disabled?: boolean
  onKeyDown?(event: KeyboardEvent): void
}

export function LimitFields({ draft: { value, set, errorOf }, ...more }: LimitFieldsProps) {
  const { data: workspace } = useWorkspace(useWorkspaceId())
  const maxParts = workspace?.agentMaxParts ?? 1
  const fieldOf = (name: LimitName, min: number, max: number, fallback: number) => ({
    ...{ min, max, placeholder: String(fallback), allowDecimal: false, value: value[name], error: errorOf(name) },
    onChange: (typed: number | string) => set({ [name]: typed }),
    ...more,
  })
  return (
    <>
      <NumberInput
        label={t.keys.unanswered}
        description={t.keys.unansweredHelp}
        {...fieldOf('unansweredSends', 1, 50, 3)}
      />
      <NumberInput label={t.keys.daily} description={t.keys.dailyHelp} {...fieldOf('dailySends', 1, 100_000, 1000)} />
      <NumberInput label={t.keys.quiet} description={t.keys.quietHelp} {...fieldOf('quietSeconds', 0, 30, 4)} />
      <NumberInput
        label={t.keys.maxParts}
        description={t.keys.maxPartsHelp}
        {...fieldOf('maxParts', 1, 10, maxParts)}
      />
      <Switch
        label={t.keys.showTyping}
        description={t.keys.showTypingHelp}
        checked={value.showTyping}
        onChange={(event) => set({ showTyping: event.currentTarget.checked })}
        disabled={more.disabled ?? false}
      />
    </>
  )
}

export const limitsIn = (draft: LimitsDraft) => ({
  unansweredSends: numberOf(draft.unansweredSends),
  dailySends: numberOf(draft.dailySends),
  quietSeconds: numberOf(draft.quietSeconds),
  maxParts: numberOf(draft.maxParts),
  showTyping: draft.showTyping,
})

const numberOf = (typed: number | string): number | null => (typed === '' ? null : Number(typed))
