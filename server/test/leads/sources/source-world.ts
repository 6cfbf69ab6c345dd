import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import { processSourceRequests } from '../../../src/leads/sources/process-requests.ts'
import { inboxWorld } from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'

export const mapping = [
  { path: 'name', field: 'name' },
  { path: 'contact.phone', field: 'phone' },
  { path: 'contact.email', field: 'email' },
  { path: 'budget', field: 'custom.budget' },
  { path: 'page', field: 'url' },
]

interface Sent {
  id?: string
  at?: Date
  secret?: string
  headers?: Record<string, string>
  query?: string
}

export async function sourceWorld(fields: object = {}) {
  const w = await inboxWorld({ key: { scopes: ['inbox.read', 'leads.read', 'leads.write'] } })
  const [admin, member] = [await signedInMember(w, 'admin'), await signedInMember(w)]
  const create = async (more: object = {}) => {
    const { status, body } = await admin.call('POST', '/lead-sources', {
      ...{ kind: 'webhook', name: 'Landing page', mapping },
      ...more,
    })
    assert.equal(status, 201, JSON.stringify(body))
    return body.source
  }
  const source = await create(fields)
  const { pathname } = new URL(source.url)
  const post = async (body: object | string, sent: Sent = {}) => {
    const raw = typeof body === 'string' ? body : JSON.stringify(body)
    const id = sent.id ?? randomUUID()
    const time = Math.floor((sent.at ?? w.clock.now()).getTime() / 1000)
    const key = Buffer.from((sent.secret ?? source.secret).replace('whsec_', ''), 'base64')
    const signature = createHmac('sha256', key).update(`${id}.${time}.${raw}`).digest('base64')
    const reply = await w.app.inject({
      method: 'POST',
      url: `${pathname}${sent.query ?? ''}`,
      headers: {
        'content-type': 'application/json',
        ...{ 'webhook-id': id, 'webhook-timestamp': String(time), 'webhook-signature': `v1,${signature}` },
        ...sent.headers,
      },
      payload: raw,
    })
    return { status: reply.statusCode, body: reply.json() }
  }
  const run = async () => {
    const seen = w.logLines.length
    await processSourceRequests(w)
    const failures = w.logLines.slice(seen).filter((line) => line.includes('failed to process'))
    assert.deepEqual(failures, [])
  }
  const requests = async () => (await admin.call('GET', `/lead-sources/${source.id}/requests`)).body.requests
  const leads = async () => (await member.call('GET', '/leads?limit=100')).body.leads
  const attribution = async (id: string) => (await member.call('GET', `/leads/${id}/attribution`)).body
  return { ...w, admin, member, create, source, pathname, post, run, requests, leads, attribution }
}
