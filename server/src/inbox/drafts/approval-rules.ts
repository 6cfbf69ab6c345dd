import type { ApprovalRules } from '../../auth/api-keys/caller.ts'
import { type OpeningHours, openingAt } from '../../team/opening-hours.ts'
import type { Conversation } from '../conversation/conversation.ts'

/** Rule by which an answer needs approval. */
export const approvalReasons = ['always', 'outside_hours', 'first_answer', 'label', 'amount'] as const
export type ApprovalReason = (typeof approvalReasons)[number]

export interface ProposedAnswer {
  conversation: Pick<Conversation, 'labelIds' | 'inbound'>
  text: string
  /** Business hours; null if the workspace has none, which is always open. */
  hours: OpeningHours | null
  now: Date
}

/** Returns why a person must approve this answer; null if it may be sent. */
export function approvalReasonOf(
  { always, outsideHours, firstAnswers, labelIds, amountFrom }: ApprovalRules,
  { conversation, text, hours, now }: ProposedAnswer,
): ApprovalReason | null {
  if (always) return 'always'
  if (outsideHours && hours !== null && !openingAt(hours, now).isOpen) return 'outside_hours'
  if (firstAnswers && conversation.inbound.answered === null) return 'first_answer'
  if (conversation.labelIds.some((id) => labelIds.includes(id))) return 'label'
  if (amountFrom !== null && amountsIn(text).some((amount) => amount >= amountFrom)) return 'amount'
  return null
}

// An amount after or before its currency. Bounded repetitions: texts of models can be long and hostile.
const amounts =
  /(?:R\$|US\$|[$€£¥]|\b(?:BRL|USD|EUR|GBP|MXN|ARS|CLP|COP|PEN)\b)\s?(?<![\d.,])(\d[\d.,]{0,20})|(?<![\d.,])(\d[\d.,]{0,20})\s?(?:R\$|US\$|[$€£¥]|\b(?:BRL|USD|EUR|GBP|MXN|ARS|CLP|COP|PEN)\b|(?:rea(?:l|is)|euros?|d[óo]lar(?:es)?|dollars?|pesos?|soles)(?!\p{L}))/giu

/** Returns the amounts of money that a text names with a currency. */
export function amountsIn(text: string): number[] {
  return [...text.matchAll(amounts)].map(([, after, before]) => parseAmount(after ?? before ?? ''))
}

/** Parses `1,234.50` and `1.234,50`: the last separator is decimal if one or two digits follow it. */
function parseAmount(digits: string): number {
  const [, whole = digits, decimals = ''] = /^(.*\d)[.,](\d{1,2})[.,]?$/.exec(digits) ?? []
  return Number(`${whole.replace(/[.,]/g, '')}.${decimals || '0'}`)
}
