import assert from 'node:assert/strict'
import { sendDeps } from '../../src/app/inbox.ts'
import { newId } from '../../src/base/id.ts'
import { type RunStep, runStep } from '../../src/base/run-step.ts'
import type { BroadcastStep } from '../../src/broadcasts/send-due.ts'
import { createBroadcastWorker } from '../../src/broadcasts/worker.ts'
import { mergeFacts, type NumberFacts } from '../../src/channels/health/number-status.ts'
import { replaceTemplates } from '../../src/channels/templates/templates.ts'
import type { SendStep } from '../../src/inbox/send/send-deps.ts'
import { inboxWorld } from '../support/inbox/inbox-world.ts'
import { signedInMember, type TestMember } from '../support/member.ts'

export type BroadcastWorld = Awaited<ReturnType<typeof broadcastWorld>>

export const minute = 60_000
export const hour = 60 * minute

const named = { from: 'field', value: 'firstName', fallback: 'there' }
export const variant = (name = 'sale') => ({
  ...{ template: { name, language: 'en' }, weight: 1, body: [named], header: null, buttons: [] },
})

let phones = 0

/** A workspace whose broadcasts are sent when the test says so, with two admins and a member. */
export async function broadcastWorld() {
  const w = await inboxWorld()
  // The workspaces of earlier tests have nothing more to do.
  await w.db.sql`update broadcasts set next_at = null`
  const [admin, second, member] = [
    await signedInMember(w, 'admin'),
    await signedInMember(w, 'admin'),
    await signedInMember(w),
  ]
  const { value: key } = await w.addKey({ scopes: ['leads.read', 'leads.write', 'leads.bulk'] })
  await addTemplates(w)
  const from = w.platform.accepted.length
  const nodeWith = (step: RunStep<BroadcastStep>, sendStep: RunStep<SendStep> = runStep) =>
    createBroadcastWorker({ sends: { ...sendDeps(w), step: sendStep }, leads: w, step })
  const node = nodeWith(runStep)
  const draft = (changes: object = {}) => ({
    ...{ name: 'Spring sale', connectionId: w.connectionId, audience: { filter: {}, viewName: null } },
    ...{ variants: [variant()], options: { quietDays: 0, optInOnly: false, perMinute: null } },
    ...changes,
  })
  const ask = async (who: TestMember, method: 'GET' | 'POST' | 'PUT', path: string, body?: object) => {
    const answer = await who.call(method, `/broadcasts${path}`, body ?? (method === 'POST' ? {} : undefined))
    assert.ok(answer.status < 300, JSON.stringify(answer.body))
    return answer.body.broadcast
  }
  const read = (id: string) => ask(admin, 'GET', `/${id}`)
  return {
    ...w,
    ...{ admin, second, member, nodeWith, draft, read, key },
    drain: () => node.drain(),
    /** Creates leads with new numbers; returns their phones. */
    addLeads: async (count: number, fields: object = {}): Promise<string[]> => {
      const leads = Array.from({ length: count }, () => {
        return { firstName: 'Marina', phone: `5581${990_000_000 + ++phones}`, ...fields }
      })
      for (const one of leads) {
        const { status, body } = await w.call('POST', '/api/v1/leads', { body: one, key })
        assert.equal(status, 201, JSON.stringify(body))
      }
      return leads.map(({ phone }) => phone)
    },
    /** Drafts a broadcast and counts its audience. */
    prepare: async (changes: object = {}) => {
      const { id } = await ask(member, 'POST', '', draft(changes))
      await ask(member, 'POST', `/${id}/count`)
      await node.drain()
      return read(id)
    },
    start: (id: string, body: object = {}) => ask(admin, 'POST', `/${id}/start`, body),
    control: (id: string, name: 'pause' | 'resume' | 'cancel') => ask(admin, 'POST', `/${id}/${name}`),
    recipients: async (id: string) =>
      (await member.call('GET', `/broadcasts/${id}/recipients?limit=100`)).body.recipients,
    setNumber: (facts: Partial<NumberFacts>) => w.db.sql`
      update connections
      set number_status = ${JSON.stringify(mergeFacts(null, facts, w.clock.now()))}::text::jsonb
      where id = ${w.connectionId}`,
    /** What the platform has accepted in this world. */
    accepted: () => w.platform.accepted.slice(from),
    sentTo: (phone: string) => w.platform.accepted.filter(({ to }) => to === phone).length,
  }
}

/** Sends everything that the pace allows within a time. */
export async function drainFor(w: BroadcastWorld, ms: number, stepMs = 2_000): Promise<void> {
  for (let at = 0; at <= ms; at += stepMs) {
    await w.drain()
    w.clock.advance(stepMs)
  }
  await w.drain()
}

async function addTemplates({ db, workspaceId, connectionId, clock }: Awaited<ReturnType<typeof inboxWorld>>) {
  const template = (name: string, category: string) => ({
    ...{ id: newId(clock.now()), name, language: 'en', category, status: 'APPROVED', body: 'Hi {{1}}!' },
    ...{ parameterNames: null, parameterCount: 1, bodyOnly: true, header: null },
  })
  const templates = [
    ...[template('sale', 'MARKETING'), template('news', 'MARKETING'), template('update', 'UTILITY')],
    { ...template('catalog', 'MARKETING'), bodyOnly: false, header: 'image' as const },
    { ...template('opening', 'MARKETING'), bodyOnly: false, inputs: { headerLocation: true as const } },
  ]
  await db.tx((tx) => replaceTemplates(tx, { workspaceId, id: connectionId }, templates, clock.now()))
}
