import assert from 'node:assert/strict'
import { sendDeps } from '../../src/app/inbox.ts'
import type { AutomationStep } from '../../src/automation/execute.ts'
import type { RuleDraft } from '../../src/automation/rule-schema.ts'
import { createAutomationWorker } from '../../src/automation/worker.ts'
import type { RunStep } from '../../src/base/run-step.ts'
import { runStep } from '../../src/base/run-step.ts'
import type { SendStep } from '../../src/inbox/send/send-deps.ts'
import { inboxWorld, marina } from '../support/inbox/inbox-world.ts'
import { signedInMember } from '../support/member.ts'

export type AutomationWorld = Awaited<ReturnType<typeof automationWorld>>

export const minute = 60_000
export const hour = 60 * minute

export const draft = (changes: Partial<RuleDraft> = {}): RuleDraft => ({
  ...{ name: 'A rule', trigger: 'message_received', afterMinutes: null, conditions: [] },
  ...{ actions: [{ kind: 'set_status', status: 'pending' }], stops: false, followsRules: false },
  ...changes,
})

let customers = 0

/** A workspace with an admin and a member, whose rules run when the test says so. */
export async function automationWorld() {
  const w = await inboxWorld()
  // The workspaces of earlier tests have nothing more to do.
  await w.db.sql`update automation_queues set active = false`
  await w.db.sql`update automation_runs set due_at = null`
  const [admin, member] = [await signedInMember(w, 'admin'), await signedInMember(w)]
  const ended: string[] = []
  const nodeWith = (step: RunStep<AutomationStep>, sendStep: RunStep<SendStep> = runStep) =>
    createAutomationWorker({
      ...w,
      sends: { ...sendDeps(w), step: sendStep },
      step,
      onEnd: (state) => ended.push(state),
    })
  const node = nodeWith(runStep)
  const addRule = async (changes: Partial<RuleDraft> = {}): Promise<string> => {
    const { status, body } = await admin.call('POST', '/automation/rules', draft(changes))
    assert.equal(status, 201, JSON.stringify(body))
    const { id } = body.rule
    assert.equal((await admin.call('PATCH', `/automation/rules/${id}`, { enabled: true })).status, 200)
    return id
  }
  const addLabel = async (name: string): Promise<string> => {
    const { status, body } = await admin.call('POST', '/labels', { name: `${name} ${++customers}`, color: 'grey' })
    assert.equal(status, 201, JSON.stringify(body))
    return body.label.id
  }
  return {
    ...w,
    ...{ admin, member, nodeWith, addRule, addLabel, ended },
    drain: () => node.drain(),
    /** A new customer writes; returns the id of the conversation. */
    newCustomer: async (text = 'Hello!'): Promise<{ id: string; phone: string }> => {
      const phone = `5581${990_000_000 + ++customers}`
      const { id } = await w.customerWrites(text, { customer: { ...marina, phone } })
      return { id, phone }
    },
    read: async (id: string) => (await member.call('GET', `/inbox/conversations/${id}`)).body.conversation,
    timeline: async (id: string) =>
      (await member.call('GET', `/inbox/conversations/${id}/timeline?limit=200`)).body.items,
    runs: async (ruleId: string) => (await admin.call('GET', `/automation/rules/${ruleId}/runs`)).body.runs,
    sentTo: (phone: string) => w.platform.sends.filter(({ order }) => order.recipient.phone === phone),
  }
}
