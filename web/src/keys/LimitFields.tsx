import { NumberInput } from '@mantine/core'
import type { KeyboardEvent } from 'react'
import { t } from '../text/index.ts'
import type { Draft } from '../ui/use-draft.ts'

/** Limits of a key, as entered; an empty field means the default. */
export interface LimitsDraft {
  unansweredSends: number | string
  dailySends: number | string
}

interface LimitFieldsProps {
  draft: Pick<Draft<LimitsDraft>, 'value' | 'set' | 'errorOf'>
  disabled?: boolean
  onKeyDown?(event: KeyboardEvent): void
}

export function LimitFields({ draft: { value, set, errorOf }, ...more }: LimitFieldsProps) {
  return (
    <>
      <NumberInput
        label={t.keys.unanswered}
        description={t.keys.unansweredHelp}
        placeholder="3"
        min={1}
        max={50}
        allowDecimal={false}
        value={value.unansweredSends}
        onChange={(unansweredSends) => set({ unansweredSends })}
        error={errorOf('unansweredSends')}
        {...more}
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
        error={errorOf('dailySends')}
        {...more}
      />
    </>
  )
}

export const limitsIn = ({ unansweredSends, dailySends }: LimitsDraft) => ({
  unansweredSends: numberOf(unansweredSends),
  dailySends: numberOf(dailySends),
})

const numberOf = (typed: number | string): number | null => (typed === '' ? null : Number(typed))
