import type { SequenceRun } from '../../data/outreach/sequences.ts'
import { t } from '../../text/index.ts'
import { formatDateTime } from '../../ui/format/time.ts'

/** Returns the words for why a step was skipped, or waits. */
export function codeText(code: string): string {
  const reasons: Record<string, string> = t.settings.automation.reasons
  return reasons[code] ?? code
}

/** Describes how far a run is: the next step, or why it ended. */
export function runText({ state, reason, step, steps, dueAt, heldBy, isSending }: SequenceRun): string {
  const texts = t.sequences
  if (state === 'ended') return reason === null ? '' : texts.reasons[reason]
  const next = texts.nextStep({ n: Math.min(step + 1, steps), of: steps })
  if (isSending) return `${next} · ${texts.sending}`
  if (heldBy !== null) return `${next} · ${texts.waits({ why: codeText(heldBy) })}`
  return dueAt === null ? next : `${next} · ${formatDateTime(dueAt)}`
}
