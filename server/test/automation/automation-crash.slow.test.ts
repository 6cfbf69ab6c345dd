import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sendDeps } from '../../src/app/inbox.ts'
import { type AutomationStep, automationSteps } from '../../src/automation/execute.ts'
import type { RunStep } from '../../src/base/run-step.ts'
import { type SendStep, sendSteps } from '../../src/inbox/send/send-deps.ts'
import { settleStrandedSends } from '../../src/inbox/send/settle-parts.ts'
import { type AutomationWorld, automationWorld, minute } from './automation-world.ts'

// AUTOMATION_CRASH_ROUNDS=100 runs for some minutes.
const rounds = Number(process.env.AUTOMATION_CRASH_ROUNDS ?? 26)
const customersPerRound = 10

class Killed extends Error {}

/** A node that dies after its nth pass of a step: from then on it does nothing more, not even in its error handling. */
function dyingNode(w: AutomationWorld, at: AutomationStep | SendStep, passes: number) {
  let left = passes
  let isDead = false
  const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    if (isDead) throw new Killed()
    const result = await work()
    if (name === at && --left === 0) isDead = true
    if (isDead) throw new Killed()
    return result
  }
  const node = w.nodeWith(step as RunStep<AutomationStep>, step as RunStep<SendStep>)
  // What it has begun ends with its connections.
  return { drain: () => node.drain().catch(() => {}) }
}

test('killed at any step on two nodes, each rule acts once on each event, and none is left out', async (t) => {
  const w = await automationWorld()
  const label = await w.addLabel('Seen')
  const ruleIds = [
    await w.addRule({
      actions: [
        { kind: 'add_labels', labelIds: [label] },
        { kind: 'add_note', text: 'Once.' },
        { kind: 'set_status', status: 'pending' },
        { kind: 'reply', text: 'Hello, {{contact.first_name}}.' },
      ],
    }),
    await w.addRule({
      trigger: 'status_changed',
      followsRules: true,
      actions: [{ kind: 'add_note', text: 'Followed.' }],
    }),
  ]
  const steps = [...automationSteps, ...sendSteps.filter((step) => step !== 'upload')]
  const customers: { id: string; phone: string }[] = []
  let kills = 0
  for (let round = 0; round < rounds; round++) {
    for (let n = 0; n < customersPerRound; n++) customers.push(await w.newCustomer())
    const at = steps[round % steps.length] ?? 'act'
    await Promise.all([dyingNode(w, at, 1 + (round % 5)).drain(), dyingNode(w, at, 2 + (round % 7)).drain()])
    kills += 2
    // Until leases, claims and abandoned calls have ended.
    w.clock.advance(2 * minute)
  }
  await w.drain()
  w.clock.advance(15 * minute)
  for (let n = 0; n < 4; n++) {
    // As the job does: what nobody knows by now counts as failed.
    await settleStrandedSends(sendDeps(w))
    await w.drain()
    w.clock.advance(40 * minute)
  }
  for (const { id, phone } of customers) {
    const notes = (await w.timeline(id)).flatMap((item: { note?: { text: string } }) => item.note?.text ?? [])
    assert.deepEqual(notes.toSorted(), ['Followed.', 'Once.'], id)
    // A send that died before the call is not made again, because it cannot be known whether it was.
    assert.ok(w.sentTo(phone).length <= 1)
  }
  const states = await w.db.sql<{ ruleId: string; state: string; count: number }[]>`
    select rule_id as "ruleId", state, count(*)::integer as count
    from automation_runs
    where workspace_id = ${w.workspaceId}
      and code is distinct from 'not_matched'
    group by rule_id, state`
  t.diagnostic(`${customers.length * 2} runs, ${kills} kills: ${JSON.stringify(states)}`)
  for (const ruleId of ruleIds) {
    const own = states.filter((one) => one.ruleId === ruleId)
    assert.equal(
      own.reduce((sum, { count }) => sum + count, 0),
      customers.length,
    )
    assert.ok(own.every(({ state }) => state === 'done' || state === 'failed'))
  }
})
