import type { Sequence, SequenceDraft, SequenceStep } from '../data/outreach/sequences.ts'
import type { Template } from '../shared/template-preview.ts'

const day = 1440

export const newStep = (place: number): SequenceStep => ({
  waitMinutes: place === 0 ? 0 : 2 * day,
  businessHours: true,
  template: { name: '', language: '' },
})

/** Returns the draft of a new sequence. */
export const emptyDraft = (connectionId: string, statuses: readonly string[]): SequenceDraft => ({
  ...{ name: '', connectionId, steps: [newStep(0)], formIds: [], labelIds: [], forAgents: false },
  endStatuses: statuses.filter((status) => status === 'won' || status === 'lost'),
})

export const draftOf = (sequence: Sequence): SequenceDraft => {
  const { name, connectionId, steps, endStatuses, formIds, labelIds, forAgents } = sequence
  return { name, connectionId, steps, endStatuses, formIds, labelIds, forAgents }
}

/** Templates that a step can fill by itself: no place, no code. */
export const isFillable = ({ category, inputs }: Template): boolean =>
  category !== 'AUTHENTICATION' &&
  !inputs?.headerLocation &&
  (inputs?.buttons ?? []).every(({ type }) => type !== 'otp')

/** Returns a step's template with empty values for all that it needs; the first name where it greets. */
export function templateOf(
  { name, language, header, inputs }: Template,
  values: readonly string[],
): NonNullable<SequenceStep['template']> {
  const buttons = inputs?.buttons ?? []
  return {
    ...{ name, language },
    ...(values.length > 0 && { body_params: [...values] }),
    ...(inputs?.headerText != null && { header_param: '' }),
    ...(header !== null && { header_url: '' }),
    ...(buttons.length > 0 && { button_params: buttons.map(() => '') }),
  }
}
