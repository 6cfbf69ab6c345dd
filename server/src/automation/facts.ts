import type { Conversation, WorkspaceSql } from '../inbox/conversation/conversation.ts'
import {
  phoneIndexes as conversationIndexes,
  decryptConversation,
} from '../inbox/conversation/encrypted-conversation.ts'
import { decryptTemplateName, type MessageRow } from '../inbox/conversation/message.ts'
import { conversationIdsOf, findConversation, selectConversations } from '../inbox/conversation/queries.ts'
import { countryOf } from '../inbox/costs/markets.ts'
import { decryptLead, phoneIndexes } from '../leads/lead/encrypted-lead.ts'
import type { Lead } from '../leads/lead/lead.ts'
import { findLeadsByIds, findOldestByPhones } from '../leads/lead/queries.ts'
import { openingAt } from '../team/opening-hours.ts'
import { readServiceSettings, type ServiceSettings, serviceOf } from '../workspaces/service/service-settings.ts'
import { type Cause, type Facts, foldForWords } from './judge.ts'
import type { Occurrence } from './occurrences.ts'

/** An occurrence with what rules look at. */
export interface Situation {
  occurrence: Occurrence
  facts: Facts
  conversation: Conversation | null
  lead: Lead | null
  /** The rule that caused it; null: none did. */
  causedBy: string | null
}

/** Reads what rules look at, in a few statements for any number of occurrences; leaves out those of erased customers. */
export async function readSituations(
  reader: WorkspaceSql,
  occurrences: readonly Occurrence[],
  { readsLead, now }: { readsLead: boolean; now: Date },
): Promise<Situation[]> {
  const leadIds = occurrences.flatMap(({ leadId }) => leadId ?? [])
  const leads = new Map((await readLeads(reader, leadIds)).map((lead) => [lead.id, lead]))
  const ofLeads = await newestConversations(reader, [...leads.values()])
  const conversations = await readConversations(reader, [
    ...occurrences.flatMap(({ conversationId }) => conversationId ?? []),
    ...ofLeads.values(),
  ])
  const phones = [...conversations.values()].flatMap(({ contact }) => contact.phone ?? [])
  const byPhone = readsLead ? await leadsByPhone(reader, phones) : new Map<string, Lead>()
  const messages = await readMessages(reader, occurrences)
  const service = await readServiceSettings(reader.sql, reader.workspaceId)
  return occurrences.flatMap((occurrence): Situation[] => {
    const { leadId } = occurrence
    const conversationId = occurrence.conversationId ?? ofLeads.get(leadId ?? '') ?? ''
    const conversation = conversations.get(conversationId) ?? null
    const lead = leads.get(leadId ?? '') ?? byPhone.get(conversation?.contact.phone ?? '') ?? null
    if (leadId === null ? conversation === null : lead === null) return []
    if (!isOfNew(occurrence, conversation)) return []
    const message = messages.get(occurrence.messageId ?? '')
    const actor = occurrence.actor ?? message?.actor ?? null
    const facts: Facts = {
      ...ownFacts(occurrence),
      ...{ cause: causeOf(actor), conversation, lead, isOpen: isTeamOpen(service, conversation, now) },
      template: message?.template ?? null,
      language: languageOf(conversation, lead),
    }
    const causedBy = actor?.type === 'system' ? actor.id : null
    return [{ occurrence, facts, conversation, lead, causedBy }]
  })
}

const languages = new Map<string, string>()

/** Returns the language that most people of the customer's country speak; null if the country is unknown. */
function languageOf(conversation: Conversation | null, lead: Lead | null): string | null {
  const ofLead = { phone: lead?.phone ?? null, userId: null }
  const country = countryOf(conversation?.contact ?? ofLead)
  if (country === null) return null
  const language = languages.get(country) ?? new Intl.Locale('und', { region: country }).maximize().language
  languages.set(country, language)
  return language
}

/** Returns what an occurrence tells by itself, before anything is read for it. */
export const ownFacts = ({ actor, message, addedLabelIds }: Occurrence): Facts => ({
  ...{ conversation: null, lead: null, template: null, language: null, isOpen: false },
  cause: causeOf(actor),
  message: message === null ? null : { kind: message.kind, words: foldForWords(message.text) },
  addedLabelIds,
})

/** The send that follows the creation of a conversation by the team comes a moment later. */
const startsWithinMs = 60_000

/** Returns false for a message that is not the first of its conversation, if it stands for the creation. */
function isOfNew({ trigger, at, actor }: Occurrence, conversation: Conversation | null): boolean {
  if (trigger !== 'conversation_created') return true
  if (conversation === null) return false
  const ageMs = at.getTime() - conversation.createdAt.getTime()
  const isFromOutside = actor === null || actor.type === 'customer'
  return isFromOutside ? ageMs <= 0 : ageMs <= startsWithinMs && conversation.inbound.newest === null
}

function causeOf(actor: Occurrence['actor']): Cause | null {
  if (actor === null) return null
  if (actor.type === 'customer' || actor.type === 'form') return 'customer'
  if (actor.type === 'user' || actor.type === 'token') return 'person'
  if (actor.type === 'agent') return 'agent'
  return actor.id === null ? 'system' : 'automation'
}

/** Returns the conversations by these ids, which may be those of conversations that were merged since. */
async function readConversations({ sql, keyring, workspaceId }: WorkspaceSql, ids: readonly string[]) {
  const asked = [...new Set(ids)]
  if (asked.length === 0) return new Map<string, Conversation>()
  const rows = await selectConversations(sql, workspaceId, asked)
  const found = new Map(rows.map((row) => [row.id, decryptConversation(keyring, row)]))
  for (const id of asked.filter((one) => !found.has(one))) {
    const row = await findConversation(sql, { workspaceId, connectionIds: [] }, id)
    if (row !== undefined) found.set(id, decryptConversation(keyring, row))
  }
  return found
}

export async function readLeads(reader: WorkspaceSql, ids: readonly string[]): Promise<Lead[]> {
  const { sql, keyring, workspaceId } = reader
  if (ids.length === 0) return []
  const rows = await findLeadsByIds(sql, workspaceId, [...new Set(ids)])
  return rows.map((row) => decryptLead(keyring, row))
}

async function leadsByPhone({ sql, keyring, workspaceId }: WorkspaceSql, phones: readonly string[]) {
  const lookups = [...new Set(phones)].flatMap((phone) =>
    phoneIndexes(keyring, phone).map((index) => ({ phone, index })),
  )
  if (lookups.length === 0) return new Map<string, Lead>()
  const indexes = lookups.map(({ index }) => index)
  const found = new Map<string, Lead>()
  for (const row of await findOldestByPhones(sql, workspaceId, indexes)) {
    const phone = lookups[row.place - 1]?.phone
    if (phone !== undefined && !found.has(phone)) found.set(phone, decryptLead(keyring, row))
  }
  return found
}

/** Returns the oldest lead with the phone of the conversation, as elsewhere; null if there is none. */
export async function leadOfConversation(reader: WorkspaceSql, { contact }: Conversation): Promise<Lead | null> {
  const { phone } = contact
  return phone === null ? null : ((await leadsByPhone(reader, [phone])).get(phone) ?? null)
}

/** Returns the ids of the conversations in which the leads wrote last. */
async function newestConversations({ sql, keyring, workspaceId }: WorkspaceSql, leads: readonly Lead[]) {
  const found = new Map<string, string>()
  for (const { id, phone } of leads) {
    if (phone === null) continue
    const ids = conversationIdsOf(sql, workspaceId, conversationIndexes(keyring, phone), [])
    const [row] = await sql<{ id: string }[]>`
      select c.id
      from conversations c
      where c.workspace_id = ${workspaceId}
        and c.id in (${ids})
      order by c.last_message_at desc, c.id
      limit 1`
    if (row !== undefined) found.set(id, row.id)
  }
  return found
}

interface MessageFacts {
  actor: Occurrence['actor']
  template: string | null
}

/** Reads the templates and authors of messages that failed; those of others are in their events. */
async function readMessages({ sql, keyring, workspaceId }: WorkspaceSql, occurrences: readonly Occurrence[]) {
  const ids = occurrences.flatMap(({ trigger, messageId }) =>
    trigger === 'message_failed' && messageId !== null ? [messageId] : [],
  )
  if (ids.length === 0) return new Map<string, MessageFacts>()
  const rows = await sql<Pick<MessageRow, 'id' | 'content' | 'actor_type' | 'actor_id'>[]>`
    select id, content, actor_type, actor_id
    from messages
    where workspace_id = ${workspaceId}
      and id = any (${ids}::uuid[])`
  return new Map(
    rows.map((row) => [
      row.id,
      {
        actor: row.actor_type === null ? null : { type: row.actor_type, id: row.actor_id },
        template: decryptTemplateName(keyring, row),
      },
    ]),
  )
}

/** Returns whether the conversation's team is open, or the business; one without hours always is. */
function isTeamOpen(settings: ServiceSettings, conversation: Conversation | null, now: Date): boolean {
  const { hours } = serviceOf(settings, conversation?.teamId ?? null)
  return hours === null || openingAt(hours, now).isOpen
}

/** Returns what can have changed since the event, right before an action. */
export async function currentFacts(
  reader: WorkspaceSql,
  { conversation, lead, readsLead, now }: Pick<Situation, 'conversation' | 'lead'> & { readsLead: boolean; now: Date },
): Promise<Facts> {
  const found = lead ?? (readsLead && conversation !== null ? await leadOfConversation(reader, conversation) : null)
  const isOpen = isTeamOpen(await readServiceSettings(reader.sql, reader.workspaceId), conversation, now)
  const nothing = { cause: null, message: null, template: null, addedLabelIds: null }
  return { ...nothing, conversation, lead: found, language: languageOf(conversation, found), isOpen }
}
