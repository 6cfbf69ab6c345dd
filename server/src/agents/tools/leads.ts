import { Type } from 'typebox'
import { type ApiError, InvalidInput, invalid } from '../../base/errors.ts'
import { oneOf } from '../../base/route.ts'
import { count, cursor, text, uuid } from '../../base/schema-types.ts'
import { missingFields, withAgentRules } from '../../leads/fields/lead-fields.ts'
import { type LeadPatch, parseLeadPatch, parseUpsert } from '../../leads/lead/input.ts'
import type { Lead, LeadUser } from '../../leads/lead/lead.ts'
import { ListQuery } from '../../leads/lead/schema.ts'
import { listLeads } from '../../leads/search/list.ts'
import { parseListRequest } from '../../leads/search/list-request.ts'
import { updateLead } from '../../leads/write/update.ts'
import {
  type AgentCaller,
  type AgentDeps,
  defineTool,
  idempotentChange,
  input,
  output,
  readOnly,
} from '../define-tool.ts'
import {
  AgentLead,
  AgentLeads,
  exampleLead,
  firstName,
  leadChangeFields,
  leadFields,
  leadUserOf,
  presentLead,
  toLeadChanges,
  withoutDescriptions,
} from '../presenters/lead.ts'

const { properties: filters } = ListQuery

export const findLeads = defineTool({
  name: 'find_leads',
  title: 'Find leads',
  description: 'Finds leads, newest first. If you know the complete id, code, reference or phone, call get_lead.',
  scopes: ['leads.read'],
  http: { method: 'GET', path: '/leads' },
  input: input({
    search: Type.Optional(
      text(
        255,
        'Part of name, e-mail, phone, code or reference. Under 3 characters: a whole name, or the start of a code.',
      ),
    ),
    status: filters.status,
    assigned_to: Type.Optional(uuid('Leads of this member.')),
    source: filters.source,
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Default 20.' })),
    cursor: Type.Optional(cursor('`next_cursor` of the previous page; same filters.')),
  }),
  output: output('LeadsFound', {
    leads: AgentLeads,
    total: count('Number of all matches.'),
    next_cursor: Type.Union([cursor('For the next page.'), Type.Null()], { description: 'Null: last page.' }),
  }),
  hints: readOnly,
  example: {
    input: { search: 'duarte' },
    output: { leads: [exampleLead], total: 1, next_cursor: null, next: ['Call update_lead to change one.'] },
  },
  run: async (deps, caller, { assigned_to, ...query }) => {
    const user = leadUserOf(deps, caller)
    const parsed = parseListRequest({
      limit: 20,
      ...query,
      ...(assigned_to !== undefined && { assignedTo: assigned_to }),
    })
    const { leads, total, nextCursor } = await listLeads(deps.leads, user, parsed)
    return {
      leads: leads.map((lead) => presentLead(lead, user.masked)),
      total,
      next_cursor: nextCursor,
      next: [
        ...(total === 0 ? ['No match. Try a shorter part of the name, or get_lead with the complete phone.'] : []),
        ...(nextCursor === null ? [] : ['Call find_leads with next_cursor as cursor for more.']),
        ...nextSteps(caller),
      ],
    }
  },
})

export const getLead = defineTool({
  name: 'get_lead',
  title: 'Read a lead',
  description: 'Reads one lead. 404 if there is none.',
  scopes: ['leads.read'],
  http: { method: 'GET', path: '/leads/:identifier' },
  input: input({
    identifier: text(255, 'Id, unique code, external reference or phone, tried in that order.', { minLength: 1 }),
  }),
  output: output('LeadRead', { lead: AgentLead }),
  hints: readOnly,
  example: {
    input: { identifier: '5581991234567' },
    output: { lead: exampleLead, next: ['Call update_lead to change it.'] },
  },
  run: async (deps, caller, { identifier }) => {
    const user = leadUserOf(deps, caller)
    const lead = await deps.readLead(user, identifier)
    return { lead: presentLead(lead, user.masked), next: nextSteps(caller) }
  },
})

const nextSteps = ({ may }: AgentCaller): string[] => (may('leads.write') ? ['Call update_lead to change one.'] : [])

export const createLead = defineTool({
  name: 'create_lead',
  title: 'Create a lead',
  description:
    'Creates a lead, with fields as in upsert_lead; 409 if unique_code or external_ref is taken. If the person may be a lead already, or a response was lost, call upsert_lead with their phone: it never creates a duplicate.',
  scopes: ['leads.write'],
  http: { method: 'POST', path: '/leads' },
  input: input({ ...withoutDescriptions(leadFields), first_name: firstName }),
  brief: Object.keys(leadFields),
  output: output('AgentLeadCreated', { lead: AgentLead }),
  hints: { isReadOnly: false, isDestructive: false, isIdempotent: false },
  example: {
    input: { first_name: 'Marina', phone: '5581991234567', custom_field_values: { city: 'Recife' } },
    output: { lead: exampleLead, next: ['Call update_lead to change it.'] },
  },
  run: async (deps, caller, fields) => {
    const user = leadUserOf(deps, caller)
    const { patch, issues } = parseLeadPatch(toLeadChanges(fields), [], { ...user, at: '' })
    const lead = await deps.createLead(user, await withAgentRules(deps.leads.db.sql, user, patch), issues)
    return { lead: presentLead(lead, user.masked), next: await nextStepsAfterWrite(deps, lead, user) }
  },
})

const matchers = { id: 'id', unique_code: 'uniqueCode', phone: 'phone', external_ref: 'externalRef' } as const

export const upsertLead = defineTool({
  name: 'upsert_lead',
  title: 'Update a lead, or create it',
  description:
    'Updates the lead that matches, or creates one. Use it with the phone of a customer: repeated calls never create a duplicate. Omitted fields stay unchanged; null clears one.',
  scopes: ['leads.write', 'leads.bulk'],
  http: { method: 'POST', path: '/leads/upsert' },
  input: input({
    match: Type.Object(
      {
        by: oneOf(['phone', 'external_ref', 'unique_code', 'id'] as const, { description: 'Field to match by.' }),
        value: text(255, 'Its value; a phone in any format.', { minLength: 1, example: '5581991234567' }),
      },
      { additionalProperties: false },
    ),
    lead: Type.Object(leadChangeFields, { additionalProperties: false }),
    create_if_missing: Type.Optional(Type.Boolean({ description: 'Default true. False: 404 if none matches.' })),
  }),
  output: output('AgentLeadUpserted', {
    action: oneOf(['created', 'updated'] as const, { description: 'What it did.' }),
    lead: AgentLead,
  }),
  hints: idempotentChange,
  example: {
    input: { match: { by: 'phone', value: '5581991234567' }, lead: { first_name: 'Marina', status: 'new' } },
    output: { action: 'created', lead: exampleLead, next: ['Call update_lead to change it.'] },
  },
  run: async (deps, caller, { match, lead: fields, create_if_missing = true }) => {
    const user = leadUserOf(deps, caller)
    const { append_notes, ...set } = rejectBothNotes(fields, 'lead.')
    const body = {
      match: { by: matchers[match.by], value: match.value },
      lead: toLeadChanges(set),
      createIfMissing: create_if_missing,
    }
    const item = parseUpsert(body, [], { ...user, at: '' })
    if (item instanceof InvalidInput) throw item
    const patch = await withAgentRules(deps.leads.db.sql, user, withAppended(item.patch, append_notes))
    const outcome = await deps.upsertLead(user, { ...item, patch })
    if (outcome.action === 'failed') throw outcome.error satisfies ApiError
    const { action, lead } = outcome
    return { action, lead: presentLead(lead, user.masked), next: await nextStepsAfterWrite(deps, lead, user) }
  },
})

export const updateOneLead = defineTool({
  name: 'update_lead',
  title: 'Change a lead',
  description:
    'Sets fields of one lead, as in upsert_lead. 404 if there is none; `changed` is false if nothing changed.',
  scopes: ['leads.write'],
  http: { method: 'PATCH', path: '/leads/:identifier' },
  input: input({
    identifier: text(255, 'As for get_lead.', { minLength: 1 }),
    ...withoutDescriptions(leadChangeFields),
  }),
  brief: Object.keys(leadChangeFields),
  output: output('AgentLeadUpdated', {
    lead: AgentLead,
    changed: Type.Boolean({ description: 'False: nothing changed, and no event was emitted.' }),
  }),
  hints: idempotentChange,
  example: {
    input: { identifier: '5581991234567', status: 'qualified', custom_field_values: { city: 'Recife' } },
    output: { lead: { ...exampleLead, status: 'qualified' }, changed: true, next: ['Call get_lead to read it.'] },
  },
  run: async (deps, caller, { identifier, ...fields }) => {
    const user = leadUserOf(deps, caller)
    const { append_notes, ...set } = rejectBothNotes(fields, '')
    const { patch: parsed, issues } = parseLeadPatch(toLeadChanges(set), [], { ...user, at: '' })
    const patch = await withAgentRules(deps.leads.db.sql, user, withAppended(parsed, append_notes))
    const { lead, changed } = await updateLead(deps.leads, user, identifier, { patch, issues })
    return { lead: presentLead(lead, user.masked), changed, next: ['Call get_lead to read it again.'] }
  },
})

/** Throws 400 if notes are replaced and appended in the same call. */
function rejectBothNotes<F extends { notes?: string | null; append_notes?: string }>(fields: F, at: string): F {
  if (fields.notes === undefined || fields.append_notes === undefined) return fields
  throw invalid(`${at}append_notes`, 'cannot be combined with notes: send only one of them')
}

const withAppended = (patch: LeadPatch, appendNotes: string | undefined): LeadPatch =>
  appendNotes === undefined ? patch : { ...patch, appendNotes }

async function nextStepsAfterWrite(deps: AgentDeps, lead: Lead, { workspaceId }: LeadUser): Promise<string[]> {
  const missing = await missingFields(deps.leads.db.sql, workspaceId, lead)
  const missingHint = `Leads of this workspace require ${missing.slice(0, 10).join(', ')}: ask the customer, then call update_lead.`
  return [...(missing.length === 0 ? [] : [missingHint]), 'Call update_lead to change it.']
}
