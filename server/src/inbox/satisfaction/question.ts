import type { Sql } from '../../base/db.ts'
import { InvalidInput } from '../../base/errors.ts'
import { normalizeLanguage } from '../../channels/templates/templates.ts'
import { type JsonObject, listOf, objectOf } from '../../channels/waba/json.ts'
import type { QuickReply } from '../send/send-command.ts'
import type { SatisfactionSettings, Scale } from './satisfaction-settings.ts'

/** What the customer sees for each score. */
const signs: Record<Scale, readonly string[]> = {
  3: ['😞', '😐', '😊'],
  5: ['★', '★★', '★★★', '★★★★', '★★★★★'],
}

/** Id of an answer, which comes back with the customer's choice. */
export const choiceIdOf = (ratingId: string, score: number): string => `rating:${ratingId}:${score}`

/** Returns the body of the question in an open window: the best answer first. */
export function choicesOf(ratingId: string, { question, buttonText, scale }: SatisfactionSettings): object {
  const options = signs[scale].map((title, n) => ({ id: choiceIdOf(ratingId, n + 1), title })).reverse()
  const shown = scale === 3 ? { buttons: options } : { list: { button: buttonText, rows: options } }
  return { kind: 'choices', choices: { text: question, ...shown } }
}

/**
 * Returns the quick replies of a template as answers, worst first as people write them down; null unless it has one for
 * each step of the scale.
 */
export async function findQuickReplies(
  sql: Sql,
  workspaceId: string,
  rating: { id: string; connectionId: string },
  { scale, template }: SatisfactionSettings,
): Promise<QuickReply[] | null> {
  if (template === null) return null
  const [row] = await sql<{ components: unknown }[]>`
    select components
    from templates
    where workspace_id = ${workspaceId}
      and connection_id = ${rating.connectionId}
      and name = ${template.name}
      and language = ${normalizeLanguage(template.language)}`
  const indexes = quickReplyIndexes(row?.components)
  if (indexes.length !== scale) return null
  return indexes.map((index, n) => ({ index, payload: choiceIdOf(rating.id, n + 1) }))
}

/** Returns the positions of quick replies among the buttons of a template. */
export function quickReplyIndexes(components: unknown): number[] {
  const isButtons = ({ type }: JsonObject) => String(type).toUpperCase() === 'BUTTONS'
  const { buttons } = listOf(components).map(objectOf).find(isButtons) ?? {}
  return listOf(buttons).flatMap((one, index) =>
    String(objectOf(one).type).toUpperCase() === 'QUICK_REPLY' ? [index] : [],
  )
}

/**
 * Throws 400 for a template that cannot ask on any of the connections: a name with a typing error would only show when
 * nobody is asked.
 */
export async function requireTemplate(
  sql: Sql,
  workspaceId: string,
  { template, scale, connectionIds }: SatisfactionSettings,
): Promise<void> {
  if (template === null) return
  const templates = await sql<{ parameterCount: number; components: unknown }[]>`
    select parameter_count as "parameterCount", components
    from templates
    where workspace_id = ${workspaceId}
      and name = ${template.name}
      and language = ${normalizeLanguage(template.language)}
      and status = 'APPROVED'
      and (${connectionIds.length === 0} or connection_id = any (${[...connectionIds]}::uuid[]))`
  const refused = (message: string) => new InvalidInput([{ path: 'template.name', message }])
  if (templates.length === 0) {
    throw refused('must be an approved template in this language, of a connection on which customers are asked')
  }
  const fits = templates.some(
    ({ parameterCount, components }) => parameterCount === 0 && quickReplyIndexes(components).length === scale,
  )
  if (!fits) throw refused(`must have ${scale} quick replies and no parameters`)
}
