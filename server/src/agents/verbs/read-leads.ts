import { Type } from 'typebox'
import { count, cursor, text, uuid } from '../../base/schema-types.ts'
import { ListQuery } from '../../leads/lead/schema.ts'
import { listLeads } from '../../leads/search/list.ts'
import { readListRequest } from '../../leads/search/list-request.ts'
import { input, output } from '../schema.ts'
import { AgentLead, AgentLeads, leadUserOf, presentLead, shownLead } from '../shown/lead.ts'
import { type AgentCaller, defineVerb, reads } from '../verb.ts'

const { properties: filters } = ListQuery

export const findLeads = defineVerb({
  name: 'find_leads',
  title: 'Find leads',
  description: 'Finds leads, newest first. For one whose id, code, reference or phone you know whole, call get_lead.',
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
    cursor: Type.Optional(cursor('`next_cursor` of the page before; same filters.')),
  }),
  output: output('LeadsFound', {
    leads: AgentLeads,
    total: count('How many fit in all.'),
    next_cursor: Type.Union([cursor('For the next page.'), Type.Null()], { description: 'Null: that is all.' }),
  }),
  hints: reads,
  example: {
    input: { search: 'duarte' },
    output: { leads: [shownLead], total: 1, next_cursor: null, next: ['Call update_lead to change one.'] },
  },
  run: async (deps, caller, { assigned_to, ...query }) => {
    const user = leadUserOf(deps, caller)
    const asked = readListRequest({
      limit: 20,
      ...query,
      ...(assigned_to !== undefined && { assignedTo: assigned_to }),
    })
    const { leads, total, nextCursor } = await listLeads(deps.leads, user, asked)
    return {
      leads: leads.map((lead) => presentLead(lead, user.masked)),
      total,
      next_cursor: nextCursor,
      next: [
        ...(total === 0 ? ['None fits. Try a shorter part of the name, or get_lead with the whole phone.'] : []),
        ...(nextCursor === null ? [] : ['Call find_leads with next_cursor as cursor for more.']),
        ...nextWithLead(caller),
      ],
    }
  },
})

export const getLead = defineVerb({
  name: 'get_lead',
  title: 'Read a lead',
  description: 'Reads one lead. 404 if there is none.',
  scopes: ['leads.read'],
  http: { method: 'GET', path: '/leads/:identifier' },
  input: input({
    identifier: text(255, 'Id, unique code, external reference or phone, tried in that order.', { minLength: 1 }),
  }),
  output: output('LeadRead', { lead: AgentLead }),
  hints: reads,
  example: {
    input: { identifier: '5581991234567' },
    output: { lead: shownLead, next: ['Call update_lead to change it.'] },
  },
  run: async (deps, caller, { identifier }) => {
    const user = leadUserOf(deps, caller)
    const lead = await deps.readLead(user, identifier)
    return { lead: presentLead(lead, user.masked), next: nextWithLead(caller) }
  },
})

const nextWithLead = ({ may }: AgentCaller): string[] => (may('leads.write') ? ['Call update_lead to change one.'] : [])
