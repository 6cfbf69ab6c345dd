// Ten calls as a user writes them, with what `openapi-typescript` makes of the contract.
import createClient from 'openapi-fetch'
import type { components, paths } from './generated/openapi-typescript'
import { known } from './known'
import { told } from './told'

type Schemas = components['schemas']

const parley = createClient<paths>({ baseUrl: 'http://localhost:7007', headers: { authorization: 'Bearer plk_…' } })

export async function openLeads(): Promise<Schemas['Lead'][]> {
  const query = { status: 'new,qualified', priority: 'high', sortBy: 'updatedAt', limit: 20 } as const
  const { data, error } = await parley.GET('/api/v1/leads', { params: { query } })
  if (error) throw new Error(error.statusMessage)
  return known(data.data)
}

export async function saveLead(phone: string, firstName: string): Promise<'created' | 'updated'> {
  const body = { match: { by: 'phone', value: phone }, lead: { firstName, customFieldValues: { vip: true } } } as const
  const { data, error } = await parley.POST('/api/v1/leads/upsert', { body })
  if (error) throw new Error(error.statusMessage)
  return known(data.action)
}

export async function saveLeads(phones: string[]): Promise<string[]> {
  const items: Schemas['LeadUpsert'][] = phones.map((value) => ({
    match: { by: 'phone', value },
    lead: { phone: value },
  }))
  const { data } = await parley.POST('/api/v1/leads/bulk-upsert', { body: { items: known(items) } })
  return (data?.results ?? []).flatMap(({ success, error }) => (success ? [] : [known(error?.statusMessage) ?? '']))
}

export async function isOurs(id: string): Promise<boolean> {
  const { data } = await parley.GET('/api/v1/inbox/conversations/{id}', { params: { path: { id } } })
  return known(data?.conversation.owner) === 'human' && known(data?.conversation.contact.phone) !== null
}

export async function answer(id: string, text: string): Promise<Schemas['SendResult'] | 'not ours'> {
  const { data, error } = await parley.POST('/api/v1/inbox/conversations/{id}/messages', {
    params: { path: { id }, header: { 'idempotency-key': 'order-4711' } },
    body: { kind: 'text', text },
  })
  if (error === undefined) return known(data)
  if (error.statusCode === 409) return 'not ours'
  throw new Error(known(error.data?.code) ?? error.statusMessage)
}

export async function whatToMend(phone: string): Promise<string[]> {
  const { error, response } = await parley.POST('/api/v1/leads', { body: { firstName: 'Ana', phone } })
  type Failures = paths['/api/v1/leads']['post']['responses']
  const failure: Failures[400 | 409]['content']['application/json'] | undefined = error
  if (response.status === 409) return [known(failure?.data?.field) ?? '']
  return (failure?.data?.issues ?? []).map(({ path, message }) => `${known(path)} ${known(message)}`)
}

export async function follow(after: string): Promise<string> {
  let cursor = after
  for (let more = true; more; ) {
    const { data, error } = await parley.GET('/api/v1/events', { params: { query: { after: cursor, wait: 25 } } })
    if (error) throw new Error(error.statusMessage)
    for (const event of data.events) console.log(known(event.id), told(event))
    cursor = known(data.next_cursor)
    more = known(data.has_more)
  }
  return cursor
}

export async function hook(workspaceId: string): Promise<string> {
  const { data, error } = await parley.POST('/api/team/v1/workspaces/{workspaceId}/webhooks', {
    params: { path: { workspaceId } },
    body: { url: 'https://hooks.example.com/parley', events: ['lead.*', 'inbox.message.received'] },
  })
  if (error) throw new Error(error.statusMessage)
  return known(data.secret)
}

export async function admins(workspaceId: string): Promise<string[]> {
  const path = '/api/team/v1/workspaces/{workspaceId}/members'
  const { data } = await parley.GET(path, { params: { path: { workspaceId } } })
  return (data?.members ?? []).filter(({ role }) => known(role) === 'admin').map(({ name }) => known(name))
}
