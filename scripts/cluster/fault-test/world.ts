import { randomInt } from 'node:crypto'
import { requireState } from '../cluster-folder.ts'
import { ports, urlOf } from '../machines.ts'
import { until } from '../processes.ts'
import { mustCall } from './call.ts'

/** Workspace of one case, with a number at the platform, customers who have written, and a webhook for all events. */
export interface World {
  workspaceId: string
  /** API key with all permissions for leads and conversations. */
  key: string
  number: { numberId: string; connectionId: string; appSecret: string }
  customers: { phone: string; conversationId: string }[]
}

export const balancer = urlOf('balancer', ports.balancer)
export const teamPath = (workspaceId: string): string => `${balancer}/api/team/v1/workspaces/${workspaceId}`
export const teamToken = (): string => requireState().secrets.teamToken

// Stays below two limits: beyond 44 messages at once a customer is sent one every 6 s, and the simulated platform has
// at most 500 customers.
const customerCount = 50
const scopes = ['leads.read', 'leads.write', 'inbox.read', 'inbox.write']
const simulator = `${urlOf('outside', ports.simulator)}/simulator`

export async function makeWorld(name: string): Promise<World> {
  const token = teamToken()
  const create = (path: string, body: object) => mustCall(path, { method: 'POST', token, body })
  const { workspace } = await create(`${balancer}/api/team/v1/workspaces`, { name, dailyLeadQuota: 0 })
  const team = teamPath(workspace.id)
  const { value: key } = await create(`${team}/keys`, { name: 'Agent', scopes })
  const number = await connectNumber(team, name)
  const hook = { url: urlOf('outside', ports.receiver), events: ['lead.*', 'inbox.*'] }
  await create(`${team}/webhooks`, hook)
  return { workspaceId: workspace.id, key, number, customers: await addCustomers(number.numberId, key) }
}

async function connectNumber(team: string, name: string): Promise<World['number']> {
  const [phone, url] = [`49301${randomInt(1_000_000, 9_999_999)}`, urlOf('outside', ports.platform)]
  const made = await mustCall(`${simulator}/numbers`, { method: 'POST', body: { phone, name } })
  const { numberId, accountId, accessToken, appSecret } = made
  const settings = { numberId, accountId, accessToken, appSecret, baseUrl: url }
  const body = { channel: 'waba', name, ...settings }
  const { connection } = await mustCall(`${team}/connections`, { method: 'POST', token: teamToken(), body })
  const callbackUrl = `${balancer}/channels/waba/${connection.id}/webhook`
  await mustCall(`${simulator}/numbers/${numberId}`, { method: 'PATCH' as const, body: { callbackUrl } })
  return { numberId, connectionId: connection.id, appSecret }
}

/** Sends one message from each customer through the simulator, which opens the 24-hour window. */
async function addCustomers(numberId: string, key: string): Promise<World['customers']> {
  const first = randomInt(10_000, 99_999)
  const made: string[] = []
  for (let n = 0; n < customerCount; n++) {
    const body = { numberId, name: `Customer ${n}`, phone: `4420${first}${String(n).padStart(5, '0')}` }
    const { id } = await mustCall(`${simulator}/customers`, { method: 'POST', body })
    made.push(id)
  }
  for (const id of made) {
    await mustCall(`${simulator}/customers/${id}/messages`, { method: 'POST', body: { text: 'Hello' } })
  }
  let found: World['customers'] = []
  await until(async () => {
    found = await conversations(key)
    return found.length === customerCount
  }, 'a conversation with each customer')
  return found
}

async function conversations(key: string): Promise<World['customers']> {
  const found: World['customers'] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = `limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`
    const page = await mustCall(`${balancer}/api/v1/inbox/conversations?${query}`, { token: key })
    for (const { id, contact } of page.conversations) found.push({ conversationId: id, phone: contact.phone })
    cursor = page.cursor
  }
  return found
}
