// Calls as a user writes them, with what `@hey-api/openapi-ts` makes of the contract.
import {
  bulkUpsertLeads,
  type CreateLeadErrors,
  createLead,
  type LeadUpsert,
  listEvents,
  type SendResult,
  sendMessage,
} from './generated/hey-api'
import { client } from './generated/hey-api/client.gen'
import { known } from './known'
import { told } from './told'

client.setConfig({ baseUrl: 'http://localhost:7007', auth: () => 'plk_…' })

export async function saveLeads(phones: string[]): Promise<string[]> {
  const items: LeadUpsert[] = phones.map((value) => ({ match: { by: 'phone', value }, lead: { phone: value } }))
  const { data } = await bulkUpsertLeads({ body: { items: known(items) } })
  return (data?.results ?? []).flatMap(({ success, error }) => (success ? [] : [known(error?.statusMessage) ?? '']))
}

export async function answer(id: string, text: string): Promise<SendResult | 'not ours'> {
  const { data, error } = await sendMessage({
    path: { id },
    headers: { 'idempotency-key': 'order-4711' },
    body: { kind: 'text', text },
  })
  if (data !== undefined) return known(data)
  if (error?.statusCode === 409) return 'not ours'
  throw new Error(known(error?.data?.code) ?? error?.statusMessage)
}

export async function whatToMend(phone: string): Promise<string[]> {
  const { error, response } = await createLead({ body: { firstName: 'Ana', phone } })
  const failure: CreateLeadErrors[400 | 409] | undefined = error
  if (response?.status === 409) return [known(failure?.data?.field) ?? '']
  return (failure?.data?.issues ?? []).map(({ path, message }) => `${known(path)} ${known(message)}`)
}

export async function follow(after: string): Promise<string> {
  let cursor = after
  for (let more = true; more; ) {
    const { data } = await listEvents({ query: { after: cursor, wait: 25 }, throwOnError: true })
    for (const event of data.events) console.log(known(event.id), told(event))
    cursor = known(data.next_cursor)
    more = known(data.has_more)
  }
  return cursor
}
