import { NumberInput } from '@mantine/core'
import type { KeyboardEvent } from 'react'
import { t } from '../text/index.ts'
import type { Draft } from '../ui/use-draft.ts'

/** Limits and agent settings of a key, as entered; an empty field means the default. */
export interface LimitsDraft {
  unansweredSends: number | string
  dailySends: number | string
  quietSeconds: number | string
  maxParts: number | string
}

export const limitNames = ['unansweredSends', 'dailySends', 'quietSeconds', 'maxParts'] as const
export type LimitName = (typeof limitNames)[number]

export const blankLimits: LimitsDraft = { unansweredSends: '', dailySends: '', quietSeconds: '', maxParts: '' }

interface LimitFieldsProps {
  draft: Pick<Draft<LimitsDraft>, 'value' | 'set' | 'errorOf'>
  disabled?: boolean
  onKeyDown?(event: KeyboardEvent): void
}

export function LimitFields({ draft: { value, set, errorOf }, ...more }: LimitFieldsProps) {
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
      <NumberInput label={t.keys.maxParts} description={t.keys.maxPartsHelp} {...fieldOf('maxParts', 1, 10, 1)} />
    </>
  )
}

export const limitsIn = (draft: LimitsDraft) => ({
  unansweredSends: numberOf(draft.unansweredSends),
  dailySends: numberOf(draft.dailySends),
  quietSeconds: numberOf(draft.quietSeconds),
  maxParts: numberOf(draft.maxParts),
})

const numberOf = (typed: number | string): number | null => (typed === '' ? null : Number(typed))
