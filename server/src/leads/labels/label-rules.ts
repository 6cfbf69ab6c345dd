import { type LabelChange, maxLabels } from './lead-labels.ts'

/** Labels that leads get beside those that they have, and labels that they lose. */
export interface LabelWish {
  add: readonly string[]
  remove: readonly string[]
}

/** What a wish changes of a lead with these labels; null when it would have too many. */
export function wishedChange(leadId: string, has: readonly string[], { add, remove }: LabelWish): LabelChange | null {
  const added = add.filter((id) => !has.includes(id))
  const removed = remove.filter((id) => has.includes(id))
  return has.length + added.length - removed.length > maxLabels ? null : { leadId, added, removed }
}

/** What makes these labels those of a lead. */
export function changeTo(leadId: string, has: readonly string[], wanted: readonly string[]): LabelChange {
  return {
    leadId,
    added: wanted.filter((id) => !has.includes(id)),
    removed: has.filter((id) => !wanted.includes(id)),
  }
}

/** What takes a change back as far as it still stands, and whether that is all of it. */
export function changeBack(
  { leadId, added, removed }: LabelChange,
  has: readonly string[],
  known: ReadonlySet<string>,
): { change: LabelChange; isWhole: boolean } {
  const room = maxLabels - has.filter((id) => !added.includes(id)).length
  const change = {
    leadId,
    added: removed.filter((id) => !has.includes(id) && known.has(id)).slice(0, Math.max(0, room)),
    removed: added.filter((id) => has.includes(id)),
  }
  return { change, isWhole: change.added.length === removed.length && change.removed.length === added.length }
}

export const changesNothing = ({ added, removed }: LabelChange): boolean => added.length + removed.length === 0
