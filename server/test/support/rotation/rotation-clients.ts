import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { receive } from '../../../src/inbox/receive/receive.ts'
import { conversationPath, customerMessage, type InboxWorld, inboxPath } from '../inbox/inbox-world.ts'
import { leadPath, leadsPath } from '../leads/leads.ts'
import type { CallOptions } from '../world.ts'

/** One process of the service, with keys of its own. */
export interface Node {
  call: InboxWorld['call']
  receiveDeps: InboxWorld['receiveDeps']
}

export interface Client {
  searches: number
  lookups: number
  writes: number
  /** Does what clients do until told to stop, on one node and another, and compares each answer with what it knows. */
  run(): Promise<void>
  stop(): void
  /** Resolves when what is on its way now has been answered. */
  idle(): Promise<void>
}

interface Known {
  id: string
  firstName: string
  lastName: string
  phone: string
  email: string
}

const syllables = ['ba', 'ce', 'di', 'fo', 'gu', 'há', 'jé', 'ki', 'lo', 'mu', 'nã', 'pe', 'qui', 'ro', 'su', 'tê']
const word = () => Array.from({ length: 3 }, () => syllables[randomInt(syllables.length)]).join('')
const fold = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()

/** Leads and customers whom only this client writes: it knows at any time what there is to find of them. */
export function rotationClient(w: InboxWorld, nodes: readonly Node[], number: number): Client {
  const leads: Known[] = []
  const customers = new Map<string, { id: string; messages: number }>()
  let stopped = false
  let running = Promise.resolve()
  const node = (): Node => nodes[randomInt(nodes.length)] as Node
  const phoneOf = (n: number) => `55${11 + number}9${String(90_000_000 + n)}`
  const call = async (method: 'GET' | 'POST' | 'PATCH', path: string, options: CallOptions = {}) => {
    const answer = await node().call(method, path, options)
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const some = () => leads[randomInt(leads.length)] as Known

  const create = async () => {
    const phone = phoneOf(leads.length)
    const fields = {
      firstName: word(),
      lastName: `${word()} ${word()}`,
      phone,
      email: `${word()}${leads.length}@c${number}.test`,
    }
    const { data } = await call('POST', leadsPath, { body: fields })
    leads.push({ id: data.id, ...fields })
  }
  const rename = async () => {
    const lead = some()
    const firstName = word()
    await call('PATCH', leadPath(lead.id), { body: { firstName } })
    lead.firstName = firstName
  }
  const upsert = async () => {
    const lead = some()
    const lastName = word()
    const body = { match: { by: 'phone', value: `+${lead.phone}` }, lead: { lastName } }
    const answer = await call('POST', `${leadsPath}/upsert`, { body })
    assert.deepEqual([answer.action, answer.lead.id], ['updated', lead.id])
    lead.lastName = lastName
  }
  const lookUp = async () => {
    const lead = some()
    const { data } = await call('GET', leadPath(lead.phone))
    assert.deepEqual(
      [data.id, data.firstName, data.lastName, data.email],
      [lead.id, lead.firstName, lead.lastName, lead.email],
    )
    client.lookups++
  }
  const search = async () => {
    const lead = some()
    const text = [lead.firstName, lead.lastName, lead.email, lead.phone][randomInt(4)] as string
    const start = randomInt(Math.max(1, text.length - 5))
    const term = text.slice(start, start + 6).trim()
    if (fold(term).length < 3) return
    const matches = (known: Known) =>
      [`${known.firstName} ${known.lastName}`, known.email, known.phone].some((line) => fold(line).includes(fold(term)))
    const found = await searchAll(call, term)
    const missed = leads.filter((known) => matches(known) !== found.has(known.id))
    assert.deepEqual(missed, [], `search for ${term}`)
    client.searches++
  }
  const hear = async () => {
    const n = randomInt(40)
    const phone = phoneOf(5_000_000 + n)
    const { receiveDeps } = node()
    // Brazilian numbers are written with the ninth digit and without.
    const spelled = n % 2 === 0 ? phone : phone.slice(0, 4) + phone.slice(5)
    const customer = { phone: spelled, name: 'C', parentUserId: null, userId: n % 3 === 0 ? `u-${phone}` : null }
    const receiver = { workspaceId: w.workspaceId, id: w.connectionId, channel: 'waba' } as const
    await receive(receiveDeps, receiver, [customerMessage({ at: w.clock.now(), text: word(), customer })])
    const found = await conversationsOf(call, phone, spelled)
    const before = customers.get(phone)
    assert.equal(found.length, 1, `one conversation of customer ${n}`)
    assert.ok(before === undefined || before.id === found[0]?.id)
    const messages = (before?.messages ?? 0) + 1
    customers.set(phone, { id: found[0]?.id ?? '', messages })
    const { messages: read } = await call('GET', `${conversationPath(found[0]?.id ?? '')}/messages`, {
      query: { limit: '100' },
    })
    assert.equal(read.length, Math.min(100, messages))
    client.lookups++
  }

  const acts = [create, rename, upsert, lookUp, lookUp, search, search, search, hear]
  const client: Client = {
    searches: 0,
    lookups: 0,
    writes: 0,
    run: async () => {
      for (let n = 0; n < 5; n++) await create()
      while (!stopped) {
        const act = acts[randomInt(leads.length > 300 ? 1 : 0, acts.length)] as () => Promise<void>
        running = act()
        await running
        if (act !== search && act !== lookUp) client.writes++
      }
    },
    stop: () => {
      stopped = true
    },
    idle: () => running.catch(() => {}),
  }
  return client
}

type Call = (
  method: 'GET',
  path: string,
  options?: CallOptions,
) => Promise<Awaited<ReturnType<InboxWorld['call']>>['body']>

async function searchAll(call: Call, search: string): Promise<Set<string>> {
  const ids = new Set<string>()
  let cursor: string | null = null
  do {
    const query: Record<string, string> = { search, limit: '100', ...(cursor === null ? {} : { cursor }) }
    const page: { data: { id: string }[]; pagination: { nextCursor: string | null } } = await call('GET', leadsPath, {
      query,
    })
    for (const { id } of page.data) ids.add(id)
    cursor = page.pagination.nextCursor
  } while (cursor !== null)
  return ids
}

/** The list finds a phone in its very spelling: a customer is shown under the one that came last. */
async function conversationsOf(call: Call, ...phones: string[]): Promise<{ id: string }[]> {
  const found = new Map<string, { id: string }>()
  for (const phone of new Set(phones)) {
    const { conversations } = await call('GET', `${inboxPath}/conversations`, { query: { phone } })
    for (const each of conversations) found.set(each.id, each)
  }
  return [...found.values()]
}
