import { conflict, invalid } from '../base/errors.ts'
import { parsePhone, phoneProblem } from '../base/phone/phone.ts'
import { fillBody, findTemplate } from '../channels/templates/templates.ts'
import { findOrCreateConversation } from '../inbox/assignment/find-or-create-conversation.ts'
import { sendMessage } from '../inbox/send/send.ts'
import { parseIdempotencyKey, templateCommandOf } from '../inbox/send/send-command.ts'
import type { TemplateChoice } from '../inbox/send/send-schema.ts'
import { parseSendOutcome } from '../inbox/send/settle-parts.ts'
import { leadUserOfMember } from '../leads/api/lead-request.ts'
import type { Lead } from '../leads/lead/lead.ts'
import { type LeadPage, listLeadsOnce } from '../leads/search/list.ts'
import { parseListRequest } from '../leads/search/list-request.ts'
import type { Member } from '../team/member.ts'
import type { AudienceFilter, Broadcast, BroadcastContent, BroadcastDeps } from './broadcast.ts'
import { nameOf } from './recipients.ts'
import { fillVariant } from './variables.ts'

const shown = 5

const newestLeads = (
  { leads }: BroadcastDeps,
  member: Member,
  filter: AudienceFilter,
  limit: number,
): Promise<LeadPage> =>
  listLeadsOnce(leads, leadUserOfMember(member), {
    filter: parseListRequest(filter).filter,
    sort: { by: 'createdAt', order: 'desc' },
    ...{ limit, page: 1, cursor: null },
  })

/** Fills the templates in for the newest leads of an audience. */
export async function previewBroadcast(
  deps: BroadcastDeps,
  member: Member,
  { filter, variants, connectionId }: Pick<BroadcastContent, 'filter' | 'variants'> & { connectionId: string },
) {
  const { sql } = deps.sends.db
  const [page, templates] = await Promise.all([
    newestLeads(deps, member, filter, shown),
    Promise.all(
      variants.map(({ template: { name, language } }) =>
        findTemplate(sql, member.workspaceId, connectionId, name, language),
      ),
    ),
  ])
  const textOf = (filled: TemplateChoice | null, n: number): string | null =>
    filled === null ? null : fillBody(templates[n]?.body ?? '', filled.body_params ?? [])
  return {
    total: page.total,
    rows: page.leads.map((lead) => ({
      leadId: lead.id,
      name: nameOf(lead) ?? '',
      texts: variants.map((variant, n) => textOf(fillVariant(variant, lead), n)),
    })),
  }
}

/** Sends one variant to a number, as the member, with the values of the newest lead of the audience. */
export async function sendTest(
  deps: BroadcastDeps,
  member: Member,
  { filter, variants, connectionId }: Broadcast,
  { phone: entered, variant: n = 0, key }: { phone: string; variant?: number; key: string | undefined },
) {
  const idempotencyKey = parseIdempotencyKey(key)
  const phone = parsePhone(entered, member.workspace.defaultCountry ?? undefined)
  if (phone === null) throw invalid('phone', phoneProblem(entered))
  const variant = variants[n]
  if (variant === undefined) throw invalid('variant', 'must be the position of a variant')
  const { leads } = await newestLeads(deps, member, filter, shown)
  const template = leads.map((lead: Lead) => fillVariant(variant, lead)).find((filled) => filled !== null)
  if (template == null) throw conflict('None of the newest leads of the audience has all values. Add fallbacks first.')
  const { workspaceId, actor } = member
  const sender = { workspaceId, actor, connectionIds: [] }
  const start = { connectionId, phone, template: templateCommandOf(template) }
  const { conversation } = await findOrCreateConversation(deps.sends, sender, start)
  const sent = await sendMessage(deps.sends, sender, {
    ...{ conversationId: conversation.id, idempotencyKey },
    body: { kind: 'template', template },
  })
  return { status: parseSendOutcome(sent).status }
}
