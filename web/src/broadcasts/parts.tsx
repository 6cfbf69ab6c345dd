import type { Broadcast } from '../data/outreach/broadcasts.ts'
import { t } from '../text/index.ts'
import { Chip, type Tone } from '../ui/Chip.tsx'

const tones: Record<Broadcast['state'], Tone> = {
  draft: 'plain',
  collecting: 'accent',
  ready: 'plain',
  awaiting_approval: 'attention',
  scheduled: 'accent',
  running: 'accent',
  paused: 'attention',
  done: 'good',
  cancelled: 'plain',
}

export const StateChip = ({ state }: Pick<Broadcast, 'state'>) => (
  <Chip tone={tones[state]}>{t.broadcasts.states[state]}</Chip>
)

type Totals = Omit<NonNullable<Broadcast['results']>['variants'][number], 'cost'>

const names = [
  ...(['pending', 'accepted', 'delivered', 'read', 'failed'] as const),
  ...(['skipped', 'answered', 'optedOut', 'charged'] as const),
]

/** Adds up the results of all variants. */
export const sentTotals = ({ results }: Pick<Broadcast, 'results'>): Totals =>
  Object.fromEntries(
    names.map((name) => [name, (results?.variants ?? []).reduce((sum, variant) => sum + variant[name], 0)]),
  ) as Totals

/** Explains why a recipient got nothing; the platform's codes are shown as they are. */
export function reasonName(reason: string): string {
  const known: Record<string, string> = t.broadcasts.reasons
  return known[reason] ?? t.broadcasts.otherReason({ code: reason })
}
