import { setTimeout as wait } from 'node:timers/promises'
import type { Acknowledgements } from '../support/program/kill-rounds.ts'

/** What one lead went through, as far as a client can know: the events that must be there, and no others. */
export interface LeadHistory {
  id: string
  /** `lead.created 12`: the event, and the estimated value that it must carry. */
  events: string[]
  value: number
  deleted: boolean
}

export interface WriterDeps {
  url: string
  key: string
  acknowledged: Acknowledgements
  stopped(): boolean
}

/** No answer has status 0. */
type Answer = { status: number; body: { data?: { id: string; estimatedValue: number } } }
type Send = (method: string, path: string, body?: object) => Promise<Answer>

const tryAgainMs = 20

/**
 * Creates, changes, upserts and deletes leads until it is stopped, one request after the other. After an answer that
 * did not come it looks at what the service has, as a careful client would, and goes on from there.
 */
export async function writeLeads(name: string, deps: WriterDeps): Promise<LeadHistory[]> {
  const send = sender(deps)
  const leads: LeadHistory[] = []
  for (let step = 1; !deps.stopped(); step++) {
    const known = leads.at(-1)
    const current = known === undefined || known.deleted ? undefined : known
    const ref = `${name}-${current === undefined ? leads.length : leads.length - 1}`
    const kind = current === undefined ? step % 2 : step % 7
    if (current === undefined) await create(send, deps, leads, ref, step, kind === 0)
    else if (kind === 6) await remove(send, deps, current)
    else await change(send, deps, current, ref, step, kind % 2 === 0)
  }
  return leads
}

async function create(send: Send, deps: WriterDeps, leads: LeadHistory[], ref: string, value: number, upsert: boolean) {
  const lead = { firstName: 'Kim', externalRef: ref, estimatedValue: value }
  const answer = upsert
    ? await send('POST', '/upsert', { match: { by: 'externalRef', value: ref }, lead })
    : await send('POST', '', lead)
  const made = isDone(answer) ? answer.body.data : (await look(send, deps, ref))?.body.data
  if (made === undefined) return
  leads.push({ id: made.id, value, events: [`lead.created ${value}`], deleted: false })
  if (isDone(answer)) deps.acknowledged.add(made.id)
}

async function change(send: Send, deps: WriterDeps, lead: LeadHistory, ref: string, value: number, upsert: boolean) {
  const fields = { estimatedValue: value }
  const answer = upsert
    ? await send('POST', '/upsert', { match: { by: 'externalRef', value: ref }, lead: fields })
    : await send('PATCH', `/${lead.id}`, fields)
  const done = isDone(answer) || (await look(send, deps, lead.id))?.body.data?.estimatedValue === value
  if (!done) return
  lead.value = value
  lead.events.push(`lead.updated ${value}`)
  if (isDone(answer)) deps.acknowledged.add(lead.id)
}

async function remove(send: Send, deps: WriterDeps, lead: LeadHistory) {
  const answer = await send('DELETE', `/${lead.id}`)
  const done = isDone(answer) || (await look(send, deps, lead.id))?.status === 404
  if (!done) return
  lead.deleted = true
  lead.events.push(`lead.deleted ${lead.value}`)
  if (isDone(answer)) deps.acknowledged.add(lead.id)
}

const isDone = ({ status }: Answer) => status >= 200 && status < 300

/** Asks until the service says for sure whether it has the lead. */
async function look(send: Send, deps: WriterDeps, identifier: string): Promise<Answer | undefined> {
  for (;;) {
    const answer = await send('GET', `/${identifier}`)
    if (answer.status === 200 || answer.status === 404) return answer
    if (deps.stopped()) throw new Error(`The service did not come back (${answer.status})`)
    await wait(tryAgainMs)
  }
}

function sender({ url, key }: WriterDeps): Send {
  return async (method, path, body) => {
    const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) }
    try {
      const request = { method, headers, ...(body && { body: JSON.stringify(body) }) }
      const response = await fetch(`${url}/api/v1/leads${path}`, request)
      return { status: response.status, body: (await response.json()) as Answer['body'] }
    } catch {
      return { status: 0, body: {} }
    }
  }
}
