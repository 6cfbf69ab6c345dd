import assert from 'node:assert/strict'
import { sendDeps } from '../../src/app/inbox.ts'
import { type RunStep, runStep } from '../../src/base/run-step.ts'
import type { SendStep } from '../../src/inbox/send/send-deps.ts'
import type { SequenceWork } from '../../src/sequences/do-step.ts'
import { createSequenceJob } from '../../src/sequences/send-due-steps.ts'
import type { SequenceDraft, Step } from '../../src/sequences/sequence-schema.ts'
import { addTemplate, agentsWorld } from '../support/agents/agents-world.ts'
import { signedInMember } from '../support/member.ts'

export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour

export type SequenceWorld = Awaited<ReturnType<typeof sequenceWorld>>

/** A step of the template that every world has. */
export const templated = (waitMinutes = 0, more: Partial<Step> = {}): Step => ({
  ...{ waitMinutes, businessHours: false },
  template: { name: 'order_update', language: 'en_US', body_params: ['{{contact.first_name|there}}'] },
  ...more,
})

/** A step with a text. */
export const saying = (text: string, waitMinutes: number): Step => ({ waitMinutes, businessHours: false, text })

let people = 0

/** A workspace with an approved template, whose sequences go on when the test says so. */
export async function sequenceWorld() {
  const w = await agentsWorld()
  await addTemplate(w)
  // The workspaces of earlier tests have nothing more to do.
  await w.db.sql`
    update sequence_runs
    set state = 'ended', reason = 'off', next_at = null
    where state = 'active'`
  const [admin, member] = [await signedInMember(w, 'admin'), await signedInMember(w)]
  const nodeWith = (step: RunStep<SequenceWork>, sendStep: RunStep<SendStep> = runStep) =>
    createSequenceJob({ sends: { ...sendDeps(w), step: sendStep }, step })
  const job = nodeWith(runStep)
  const draft = (changes: Partial<SequenceDraft> = {}): SequenceDraft => ({
    ...{ name: `Sequence ${++people}`, connectionId: w.connectionId, steps: [templated(), templated(1440)] },
    ...{ endStatuses: ['won', 'lost'], formIds: [], labelIds: [], forAgents: false },
    ...changes,
  })
  /** Creates a sequence that is on. */
  const addSequence = async (changes: Partial<SequenceDraft> = {}) => {
    const made = await admin.call('POST', '/sequences', draft(changes))
    assert.equal(made.status, 201, JSON.stringify(made.body))
    const { id } = made.body.sequence
    const on = await admin.call('PATCH', `/sequences/${id}`, { enabled: true })
    assert.equal(on.status, 200, JSON.stringify(on.body))
    return on.body.sequence
  }
  const addLead = async (fields: object = {}) => {
    const phone = `5581${980_000_000 + ++people}`
    const { status, body } = await member.call('POST', '/leads', { firstName: 'Marina', phone: `+${phone}`, ...fields })
    assert.equal(status, 201, JSON.stringify(body))
    return { id: body.lead.id as string, phone }
  }
  const start = (sequenceId: string, ...leadIds: string[]) =>
    member.call('POST', `/sequences/${sequenceId}/runs`, { leadIds })
  return {
    ...w,
    ...{ admin, member, nodeWith, draft, addSequence, addLead, start },
    /** Does what is due, and what changes of conversations ask for. */
    run: async () => {
      await job.isDue()
      await job.work()
    },
    /** Adds a lead and starts the sequence for it. */
    started: async (sequenceId: string, fields: object = {}) => {
      const lead = await addLead(fields)
      const { status, body } = await start(sequenceId, lead.id)
      assert.deepEqual([status, body.started], [200, [lead.id]], JSON.stringify(body))
      return lead
    },
    runsOf: async (leadId: string) => (await member.call('GET', `/sequence-runs?leadId=${leadId}`)).body.runs,
    countsOf: async (id: string) => (await member.call('GET', `/sequences/${id}/counts`)).body.counts,
    sentTo: (phone: string) => w.platform.sends.filter(({ order }) => order.recipient.phone === phone),
    /** A person sends a message in the conversation. */
    says: (id: string, body: object) =>
      member.call('POST', `/inbox/conversations/${id}/messages`, body, { 'idempotency-key': `says ${++people}` }),
    /** The customer of the lead writes; returns the conversation. */
    answers: (phone: string, text = 'Yes!') =>
      w.customerWrites(text, { customer: { userId: null, parentUserId: null, phone, name: 'Marina' } }),
  }
}
