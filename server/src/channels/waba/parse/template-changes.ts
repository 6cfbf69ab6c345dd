import type { ChannelEvent } from '../../channel-event.ts'
import { normalizeLanguage, type TemplateReview } from '../../templates/templates.ts'
import { type JsonObject, objectOf, textOf } from '../json.ts'
import { parseQuality, parseReason } from '../templates.ts'

type TemplatesChanged = Extract<ChannelEvent, { type: 'templates_changed' }>

export const templateHints: ReadonlySet<string> = new Set([
  'message_template_status_update',
  'message_template_quality_update',
  'message_template_components_update',
  'template_category_update',
])

/** Parses a change of a template: it is applied at once, and corrected by the sync that follows each. */
export function parseTemplateChange(field: string, value: JsonObject): TemplatesChanged {
  const [name, language] = [textOf(value.message_template_name), textOf(value.message_template_language)]
  const event: TemplatesChanged = { type: 'templates_changed' }
  if (name === null || language === null) return event
  const one = { name, language: normalizeLanguage(language) }
  if (field === 'message_template_status_update') {
    const review = parseReview(one, value)
    return review === null ? event : { ...event, review }
  }
  if (field === 'message_template_quality_update') {
    return { ...event, quality: { ...one, quality: parseQuality(value.new_quality_score) } }
  }
  const category = field === 'template_category_update' ? parseCategory(value) : null
  return category === null ? event : { ...event, category: { ...one, category } }
}

/** Events whose name is not the new status. A deleted template is removed by the sync. */
const statusesByEvent: Readonly<Record<string, string | null>> = {
  REINSTATED: 'APPROVED',
  UNARCHIVED: 'APPROVED',
  FLAGGED: null,
  LOCKED: null,
  UNLOCKED: null,
  DELETED: null,
}

const maxNoteLength = 1000

function parseReview(one: Pick<TemplateReview, 'name' | 'language'>, value: JsonObject): TemplateReview | null {
  const event = textOf(value.event)?.toUpperCase() ?? ''
  if (!/^[A-Z_]{1,40}$/.test(event)) return null
  const status = Object.hasOwn(statusesByEvent, event) ? (statusesByEvent[event] ?? null) : event
  const { reason, recommendation } = objectOf(value.rejection_info)
  const { description } = objectOf(value.other_info)
  const words = [reason, recommendation, description].map((text) => textOf(text)?.trim() ?? '')
  const note = words.filter((text) => text !== '').join('\n')
  return {
    ...one,
    status,
    reason: parseReason(value.reason),
    note: note.slice(0, maxNoteLength).toWellFormed() || null,
  }
}

/**
 * Parses the new category of a completed change; null for one that is only announced, which names the future category in
 * `correct_category` and the current one in `new_category`.
 */
function parseCategory(value: JsonObject): string | null {
  if (value.correct_category !== undefined) return null
  const category = textOf(value.new_category)?.toUpperCase() ?? ''
  return /^[A-Z_]{1,40}$/.test(category) ? category : null
}
