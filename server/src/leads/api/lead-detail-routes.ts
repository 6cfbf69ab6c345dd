import { type Static, Type } from 'typebox'
import { conflict } from '../../base/errors.ts'
import { maxPhoneLength } from '../../base/phone/phone.ts'
import { byteaArray } from '../../base/postgres/values.ts'
import { nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { count, leadStatus, text, unpaged } from '../../base/schema-types.ts'
import type { ConsentDecision, ConsentPurpose } from '../../consents/consent.ts'
import { consentDecisions, consentPurposes, consentSources } from '../../consents/consent.ts'
import { listConsents, maxConsents, maxListed } from '../../consents/store.ts'
import type { Member } from '../../team/member.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { closed, idSchema, workspaceParams } from '../../team/team-schema.ts'
import type { Actor } from '../../workspaces/actor.ts'
import { listLabelChanges } from '../labels/lead-labels.ts'
import { decryptLead, emailIndexes, type LeadRow, phoneIndexes } from '../lead/encrypted-lead.ts'
import { findLead, makeLeadReader } from '../lead/find-lead.ts'
import { listStatusChanges } from '../lead/history.ts'
import { parsePhones } from '../lead/input.ts'
import type { Lead, LeadDeps, ListedLead } from '../lead/lead.ts'
import { presentDetail } from '../lead/present.ts'
import { hiddenWorkspaceId, leadColumns, leadsWithContacts } from '../lead/queries.ts'
import { Identifier, LeadDetail, labelIds, NoQuery } from '../lead/schema.ts'
import { otherEmails, phonesOf, toList } from '../lead/search-lines.ts'
import { actorSchema, leadPathParams, leadsPath, leadUserOfMember, ofLead } from './lead-request.ts'

/** Conversation with a lead, as supplied by the inbox. */
interface LeadConversation extends Omit<Static<typeof Conversation>, 'lastMessageAt' | 'unansweredSince'> {
  lastMessageAt: Date
  unansweredSince: Date | null
}

export interface ConversationDeps extends LeadDeps {
  /** Returns conversations with these phones, in any of their variants, newest message first. */
  conversationsOf(workspaceId: string, phones: readonly string[]): Promise<LeadConversation[]>
}

const Conversation = titled('LeadConversation', {
  id: idSchema('The conversation.'),
  connectionId: idSchema('The chat connection.'),
  channel: text(20, 'The channel.', { example: 'waba' }),
  owner: text(50, '`human` or `agent:<key id>`.', { example: 'human' }),
  status: text(20, 'Status of the conversation.', { example: 'open' }),
  assignedTo: nullable(idSchema('The member it is assigned to.')),
  unreadCount: count('Number of unread customer messages.', { example: 1 }),
  lastMessageAt: timestamp('When its newest message was sent.'),
  unansweredSince: nullable(timestamp('Since when the customer has been waiting; null if answered.')),
  lastMessage: nullable(
    Type.Object({
      direction: Type.Unsafe<'inbound' | 'outbound'>({ type: 'string', enum: ['inbound', 'outbound'] }),
      kind: text(20, 'Kind of message.', { example: 'text' }),
      text: text(200, 'Its first 200 characters.', { example: 'Hello!' }),
    }),
  ),
})

export function conversationRoutes(api: TeamApi, deps: ConversationDeps): void {
  const readLead = makeLeadReader(deps)
  api.get(`${leadsPath}/:identifier/conversations`, 'member', {
    operationId: 'listLeadConversations',
    summary: 'List the conversations of a lead',
    description: 'Conversations with its phones, in any common variant, newest message first.',
    ...ofLead,
    answers: { 200: Type.Object({ conversations: Type.Array(Conversation, unpaged) }) },
    run: async ({ member, params }) => {
      const user = leadUserOfMember(member)
      const lead = await readLead(user, params.identifier)
      const found = await deps.conversationsOf(user.workspaceId, phonesOf(lead))
      return { conversations: found.map(presentConversation) }
    },
  })
}

function presentConversation(one: LeadConversation) {
  return {
    ...one,
    lastMessageAt: one.lastMessageAt.toISOString(),
    unansweredSince: one.unansweredSince?.toISOString() ?? null,
  }
}

const Duplicates = Type.Object({
  duplicates: Type.Array(
    titled('LeadDuplicate', {
      lead: LeadDetail,
      same: Type.Array(oneOf(['phone', 'email']), { maxItems: 2, description: 'Matching fields.' }),
    }),
    { maxItems: 20, description: 'At most 20, the oldest first.' },
  ),
})

const DuplicateCheck = Type.Object(
  {
    phone: Type.Optional(Type.String({ maxLength: maxPhoneLength, description: 'As typed. Must be complete.' })),
    email: Type.Optional(Type.String({ maxLength: 254, description: 'As typed.' })),
  },
  { ...closed, example: { phone: '+55 81 99123-4567' } },
)

export function duplicateRoutes(api: TeamApi, deps: LeadDeps): void {
  const readLead = makeLeadReader(deps)
  api.get(`${leadsPath}/:identifier/duplicates`, 'member', {
    operationId: 'listLeadDuplicates',
    summary: 'List the duplicates of a lead',
    description: 'Other leads with its phone, in any of its common variants, or with its e-mail, ignoring case.',
    ...ofLead,
    answers: { 200: Duplicates },
    run: async ({ member, params }) => {
      const lead = await readLead(leadUserOfMember(member), params.identifier)
      const phones = phonesOf(lead)
      const emails = [...toList(lead.email), ...otherEmails(lead)]
      return { duplicates: await findDuplicates(deps, member.workspaceId, { phones, emails, exceptId: lead.id }) }
    },
  })

  api.post(`${leadsPath}/check`, 'member', {
    operationId: 'findLeadDuplicates',
    summary: 'Find duplicates before creating a lead',
    description: 'Writes nothing. Uses POST to keep phones and e-mails out of URLs.',
    query: NoQuery,
    body: DuplicateCheck,
    answers: { 200: Duplicates },
    run: async ({ member, body }) => {
      const { phone = '', email = '' } = body
      // Empty for an invalid phone, which matches nothing.
      const phones = parsePhones(phone, leadUserOfMember(member).defaultCountry)
      const emails = [email.trim()].filter((typed) => typed !== '')
      return { duplicates: await findDuplicates(deps, member.workspaceId, { phones, emails, exceptId: null }) }
    },
  })
}

const StatusChange = titled('StatusChange', {
  id: idSchema('The entry.'),
  from: leadStatus('The status before.', { example: 'new' }),
  to: leadStatus('The status after.', { example: 'qualified' }),
  actor: actorSchema,
  at: timestamp('When the status changed.'),
})

const LabelChange = titled('LeadLabelChange', {
  id: idSchema('The entry.'),
  added: labelIds('Labels added, including labels deleted since.'),
  removed: labelIds('Labels removed.'),
  actor: actorSchema,
  at: timestamp('When the labels changed.'),
})

export function historyRoutes(api: TeamApi, deps: LeadDeps): void {
  api.get('/api/team/v1/workspaces/:workspaceId/leads/:identifier/history', 'member', {
    operationId: 'listLeadHistory',
    summary: "List a lead's status and label changes",
    description: 'Oldest first, at most 1,000 of each. Accepts any identifier of the lead.',
    params: Type.Object({ ...workspaceParams, ...Identifier.properties }),
    query: NoQuery,
    answers: {
      200: Type.Object({ history: Type.Array(StatusChange, unpaged), labels: Type.Array(LabelChange, unpaged) }),
    },
    allErrors: [400, 401, 404],
    run: async ({ member, params }) => {
      const user = leadUserOfMember(member)
      const keyring = await deps.keyStore.keyring(user.workspaceId)
      const { id } = await findLead(deps.db.sql, keyring, user, params.identifier)
      const [changes, labels] = await Promise.all([
        listStatusChanges(deps.db.sql, user.workspaceId, id),
        listLabelChanges(deps.db.sql, user.workspaceId, id),
      ])
      return {
        history: changes.map((change) => ({ ...change, at: change.at.toISOString() })),
        labels: labels.map((change) => ({ ...change, at: change.at.toISOString() })),
      }
    },
  })
}

export const maxDuplicates = 20

/** Returns live leads with one of these phones, in any of its variants, or one of these e-mails. */
async function findDuplicates(
  { db: { sql }, keyStore }: LeadDeps,
  workspaceId: string,
  { phones, emails, exceptId }: { phones: readonly string[]; emails: readonly string[]; exceptId: string | null },
) {
  const keyring = await keyStore.keyring(workspaceId)
  const byPhone = phones.flatMap((digits) => phoneIndexes(keyring, digits))
  const byEmail = emails.flatMap((email) => emailIndexes(keyring, email))
  if (byPhone.length + byEmail.length === 0) return []
  const workspace = hiddenWorkspaceId(sql, workspaceId)
  const has = (digests: readonly Buffer[]) => sql`exists (
    select 1
    from lead_contacts k
    where k.workspace_id = ${workspace} and k.lead_id = l.id and k.digest = any (${byteaArray(digests)}::bytea[])
  )`
  const rows = await sql<(LeadRow & { same_phone: boolean; same_email: boolean })[]>`
    select ${leadColumns(sql)},
      coalesce(l.phone_index = any (${byteaArray(byPhone)}::bytea[]), false) or ${has(byPhone)} as same_phone,
      coalesce(l.email_index = any (${byteaArray(byEmail)}::bytea[]), false) or ${has(byEmail)} as same_email
    from leads l
    where l.workspace_id = ${workspaceId}
      and l.id = any (array(
        (
          select p.id from leads p
          where p.workspace_id = ${workspace} and p.phone_index = any (${byteaArray(byPhone)}::bytea[]) and p.deleted_at is null
          order by p.created_at, p.id
          limit ${maxDuplicates + 1}
        )
        union
        (
          select e.id from leads e
          where e.workspace_id = ${workspace} and e.email_index = any (${byteaArray(byEmail)}::bytea[]) and e.deleted_at is null
          order by e.created_at, e.id
          limit ${maxDuplicates + 1}
        )
        union
        (
          select o.id from ${leadsWithContacts(sql, workspaceId, sql`${byteaArray([...byPhone, ...byEmail])}::bytea[]`)}
          order by o.created_at, o.id
          limit ${maxDuplicates + 1}
        )
      ))
      and l.id is distinct from ${exceptId}::uuid
    order by l.created_at, l.id
    limit ${maxDuplicates}`
  return rows.map((row) => ({
    lead: presentDetail(decryptLead(keyring, row)),
    same: [...(row.same_phone ? (['phone'] as const) : []), ...(row.same_email ? (['email'] as const) : [])],
  }))
}

export interface ConsentDeps extends LeadDeps {
  /** Records a decision for these phones, or takes the actor's last one back, also in their conversations. */
  setConsentOfPhones(
    workspaceId: string,
    actor: Actor,
    phones: readonly string[],
    decision: ConsentDecision | 'undo',
    purpose?: ConsentPurpose,
  ): Promise<void>
}

const LeadConsent = titled('LeadConsent', {
  id: idSchema('The entry.'),
  purpose: oneOf(consentPurposes, {
    description: 'What it is about: marketing, or templates of the category utility.',
  }),
  decision: oneOf(consentDecisions, { description: 'What was decided.' }),
  source: oneOf(consentSources, {
    description:
      'Where: `platform` in the settings on the platform, `platform_error` shown by a refused message, `keyword` by a message, `form`, `member` recorded by the team, `agent` by an API key.',
  }),
  actor: actorSchema,
  at: timestamp('When it was recorded here.'),
  counts: Type.Boolean({ description: 'False: it arrived after a newer decision, and changed nothing.' }),
})

const Consents = titled('LeadConsents', {
  current: nullable(LeadConsent),
  utility: Type.Union([LeadConsent, Type.Null()], {
    description: 'The current decision about templates of the category utility; `current` is about marketing.',
  }),
  history: Type.Array(LeadConsent, { maxItems: maxListed, description: 'Newest first, `current` included.' }),
})

const consentPurpose = Type.Optional(oneOf(consentPurposes, { default: 'marketing', description: 'What it is about.' }))
const ConsentBody = Type.Object(
  { decision: oneOf(consentDecisions, { description: 'What the person has told you.' }), purpose: consentPurpose },
  closed,
)
const UndoQuery = Type.Object({ purpose: consentPurpose }, closed)

export function consentRoutes(api: TeamApi, deps: ConsentDeps): void {
  const readLead = makeLeadReader(deps)
  const read = async (workspaceId: string, lead: Lead | ListedLead): Promise<Static<typeof Consents>> => {
    const keyring = await deps.keyStore.keyring(workspaceId)
    const rows = await listConsents(deps.db.sql, keyring, workspaceId, phonesOf(lead))
    const history = rows.map(({ id, purpose, decision, source, actor, decidedAt, isLate }) => {
      return { id, purpose, decision, source, actor, at: decidedAt.toISOString(), counts: !isLate }
    })
    const currentOf = (about: ConsentPurpose) =>
      history.find(({ purpose, counts }) => counts && purpose === about) ?? null
    return { current: currentOf('marketing'), utility: currentOf('utility'), history }
  }
  const set = async (
    member: Member,
    identifier: string,
    decision: ConsentDecision | 'undo',
    purpose: ConsentPurpose | undefined,
  ) => {
    const lead = await readLead(leadUserOfMember(member), identifier)
    const phones = phonesOf(lead)
    if (phones.length === 0) throw conflict('This lead has no phone. Add one, then record the decision.')
    await deps.setConsentOfPhones(member.workspaceId, member.actor, phones, decision, purpose)
    return read(member.workspaceId, lead)
  }
  const path = `${leadsPath}/:identifier/marketing-consent`
  const answers = { 200: Consents }
  api.get(path, 'member', {
    operationId: 'getLeadMarketingConsent',
    summary: "Get a lead's marketing consent",
    description: `The current decision of the person with the lead's phones, and the last ${maxConsents} decisions about each purpose.`,
    ...ofLead,
    answers,
    run: async ({ member, params }) =>
      read(member.workspaceId, await readLead(leadUserOfMember(member), params.identifier)),
  })
  api.put(path, 'member', {
    operationId: 'setLeadMarketingConsent',
    summary: "Record a lead's marketing consent",
    description: 'Applies to each phone of the lead, and to its conversations on every connection.',
    ...ofLead,
    body: ConsentBody,
    answers,
    errors: [409],
    run: ({ member, params, body }) => set(member, params.identifier, body.decision, body.purpose),
  })
  api.delete(path, 'member', {
    operationId: 'undoLeadMarketingConsent',
    summary: "Undo a lead's recorded marketing consent",
    description:
      'Takes back your own last decision as if you had not recorded it, within 10 minutes. 409 if the person has decided since.',
    params: leadPathParams,
    query: UndoQuery,
    answers,
    errors: [409],
    run: ({ member, params, query }) => set(member, params.identifier, 'undo', query.purpose),
  })
}
