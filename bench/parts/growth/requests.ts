import { callbackOf, signedCallback, textsOf, webhookPath } from '../../callbacks.ts'
import { customerPhone } from '../../inbox-seed.ts'
import { connectionOf, conversationId, decryptableLead } from '../../large/tenant.ts'
import { requestBytes } from '../../load.ts'
import { person } from '../../people.ts'
import type { Side } from './side.ts'

/** Request that is measured in each workspace. */
export interface WorkItem {
  name: string
  request: (side: Side, n: number) => Buffer
  /** Fewer connections than the run's, for expensive requests. */
  connections?: number
  /** Whether a memory index may answer it; then it is also measured without one. */
  isFromMemory?: boolean
}

/** A prime: multiples of it visit the whole workspace in scattered order. */
const stride = 7919
/** Makes writes of repeated runs on the same rows differ. */
const run = Date.now()

export function requestsOf(): WorkItem[] {
  return [...readsOfLeads(), ...searches(), ...writesOfLeads(), ...inbox()]
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
const at = <T>(all: readonly T[], n: number): T | undefined => all[n % all.length]
const listOf = (query: string) => (side: Side) => requestBytes('GET', `/api/v1/leads?${query}`, bearer(side.tenant.key))

/** The database counts each total again. */
const counted = { connections: 2, isFromMemory: true }

function readsOfLeads(): WorkItem[] {
  return [
    {
      name: 'GET lead by id',
      request: ({ tenant, leadIds }, n) =>
        requestBytes('GET', `/api/v1/leads/${at(leadIds, n * stride)}`, bearer(tenant.key)),
    },
    { name: 'first page of 50, exact total', request: listOf('limit=50'), ...counted },
    { name: 'the same, status won', request: listOf('limit=50&status=won'), ...counted },
    {
      name: 'the same, longest unchanged first',
      request: listOf('limit=50&sortBy=updatedAt&sortOrder=asc'),
      ...counted,
    },
  ]
}

function searches(): WorkItem[] {
  const search = (name: string, term: (side: Side, n: number) => string, connections: number): WorkItem => ({
    name: `search, ${name}`,
    request: (side, n) => listOf(`limit=50&search=${encodeURIComponent(term(side, n))}`)(side),
    connections,
    isFromMemory: true,
  })
  const personOf = ({ tenant }: Side, n: number) => person(decryptableLead(tenant, n * stride))
  return [
    search('an e-mail', (side, n) => personOf(side, n).email, 16),
    search('a phone', (side, n) => personOf(side, n).phone, 16),
    search('a reference', ({ tenant }, n) => `crm-${String(decryptableLead(tenant, n * stride)).padStart(5, '0')}`, 16),
    search('no hit', (_, n) => `zzqxj${n % 10}`, 16),
  ]
}

function writesOfLeads(): WorkItem[] {
  return [
    {
      name: 'create',
      request: ({ tenant }, n) => {
        const { firstName, lastName, email, phone, status } = person(tenant.leads + n)
        return requestBytes('POST', '/api/v1/leads', bearer(tenant.key), { firstName, lastName, email, phone, status })
      },
    },
    upsert('upsert of an existing lead', ({ tenant }, n) => decryptableLead(tenant, n * stride)),
    upsert(
      'upsert of one of the newest 50,000',
      ({ tenant }, n) => tenant.leads - 1 - ((n * stride) % Math.min(50_000, tenant.leads)),
    ),
  ]
}

const upsert = (name: string, which: (side: Side, n: number) => number): WorkItem => ({
  name,
  request: (side, n) => {
    const turn = Math.floor(n / side.tenant.leads)
    const lead = { status: turn % 2 === 0 ? 'lost' : 'won', estimatedValue: ((run + turn) % 1_000_000) / 100 }
    const match = { by: 'externalRef', value: `crm-${which(side, n)}` }
    return requestBytes('POST', '/api/v1/leads/upsert', bearer(side.tenant.key), { match, lead })
  },
})

function inbox(): WorkItem[] {
  const team = ({ tenant, token }: Side, rest: string) =>
    requestBytes('GET', `/api/team/v1/workspaces/${tenant.workspaceId}/inbox/conversations${rest}`, bearer(token))
  return [
    {
      name: '30 conversations',
      request: ({ tenant }) => requestBytes('GET', '/api/v1/inbox/conversations', bearer(tenant.key)),
    },
    { name: "the team's list, open", request: (side) => team(side, '?limit=40&status=open') },
    {
      name: '50 messages of a conversation',
      request: ({ tenant, read }, n) =>
        requestBytes(
          'GET',
          `/api/v1/inbox/conversations/${conversationId(tenant, at(read, n) ?? 0)}/messages`,
          bearer(tenant.key),
        ),
    },
    {
      name: "a conversation's timeline",
      request: (side, n) => team(side, `/${conversationId(side.tenant, at(side.read, n) ?? 0)}/timeline`),
    },
    callback('callback with one message, of any customer', ({ tenant }, n) => (n * stride) % tenant.conversations),
    callback(
      'callback, of the 2,000 who wrote last',
      ({ tenant }, n) => (n * stride) % Math.min(2_000, tenant.conversations),
    ),
    {
      name: 'send, the platform answers at once',
      request: ({ tenant, answered }, n) =>
        requestBytes(
          'POST',
          `/api/v1/inbox/conversations/${conversationId(tenant, at(answered, n) ?? 0)}/messages`,
          { ...bearer(tenant.key), 'idempotency-key': `${run} ${n}` },
          { kind: 'text', text: 'Good morning! It is still there, and we are open until six.' },
        ),
    },
  ]
}

let calls = 0

const callback = (name: string, which: (side: Side, n: number) => number): WorkItem => ({
  name,
  request: (side, n) => {
    const customer = which(side, n)
    const id = connectionOf(side.tenant, customer)
    const body = 'Hello, is the blue one still there? I could come by tomorrow.'
    const written = [{ from: customerPhone(customer), id: `wamid.IN${run}.${++calls}`, body }]
    return signedCallback(webhookPath({ id }), callbackOf({ numberId: id }, textsOf(written)))
  },
})
