// Calls as in user code, with the types that `openapi-typescript` generates from the contract.
import createClient from 'openapi-fetch'
import { describeEvent } from './describe-event'
import type { components, paths } from './generated/openapi-typescript'
import { known } from './known'

type Schemas = components['schemas']

const parley = createClient<paths>({ baseUrl: 'http://localhost:7007', headers: { authorization: 'Bearer plk_…' } })

export async function saveLeads(phones: string[]): Promise<string[]> {
  const items: Schemas['LeadUpsert'][] = phones.map((value) => ({
    match: { by: 'phone', value },
    lead: { phone: value },
  }))
  const { data } = await parley.POST('/api/v1/leads/bulk-upsert', { body: { items: known(items) } })
  return (data?.results ?? []).flatMap(({ success, error }) => (success ? [] : [known(error?.statusMessage) ?? '']))
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
    for (const event of data.events) console.log(known(event.id), describeEvent(event))
    cursor = known(data.next_cursor)
    more = known(data.has_more)
  }
  return cursor
}
