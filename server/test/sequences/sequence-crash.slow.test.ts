import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sendDeps } from '../../src/app/inbox.ts'
import type { RunStep } from '../../src/base/run-step.ts'
import { type SendStep, sendSteps } from '../../src/inbox/send/send-deps.ts'
import { settleStrandedSends } from '../../src/inbox/send/settle-parts.ts'
import { type SequenceWork, sequenceSteps } from '../../src/sequences/do-step.ts'
import { hour, minute, type SequenceWorld, saying, sequenceWorld, templated } from './sequence-world.ts'

// Each step once; SEQUENCE_CRASH_ROUNDS=100 runs for some minutes.
const steps = [...sequenceSteps, ...sendSteps.filter((step) => step !== 'upload')]
const rounds = Number(process.env.SEQUENCE_CRASH_ROUNDS ?? steps.length)
const leadsPerRound = 28

class Killed extends Error {}

/** A node that dies after its nth pass of a step: from then on it does nothing more, not even in its error handling. */
function dyingNode(w: SequenceWorld, at: SequenceWork | SendStep, passes: number) {
  let left = passes
  let isDead = false
  const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    if (isDead) throw new Killed()
    const result = await work()
    if (name === at && --left === 0) isDead = true
    if (isDead) throw new Killed()
    return result
  }
  const job = w.nodeWith(step as RunStep<SequenceWork>, step as RunStep<SendStep>)
  // What it has begun ends with its connections.
  return { work: () => job.work().catch(() => {}) }
}

test('killed at any step on two nodes, each step is done at most once, and no run is lost', async (t) => {
  const w = await sequenceWorld()
  const sequence = await w.addSequence({ steps: [templated(), saying('Skipped', 1)] })
  const leads: { id: string; phone: string }[] = []
  for (let round = 0; round < rounds; round++) {
    const added = await Promise.all(Array.from({ length: leadsPerRound }, () => w.addLead()))
    const { body } = await w.start(sequence.id, ...added.map(({ id }) => id))
    assert.equal(body.started.length, leadsPerRound)
    leads.push(...added)
    const at = steps[round % steps.length] ?? 'send'
    await Promise.all([dyingNode(w, at, 1 + (round % 5)).work(), dyingNode(w, at, 2 + (round % 7)).work()])
    // Until leases and abandoned calls have ended.
    w.clock.advance(3 * minute)
  }
  // What a silent process has begun counts as dead.
  await w.db.sql`update dispatches set alive_until = statement_timestamp() - interval '1 millisecond'`
  for (let n = 0; n < 4; n++) {
    // As the job does: what nobody knows by now counts as failed.
    await settleStrandedSends(sendDeps(w))
    await w.run()
    w.clock.advance(hour)
  }
  const accepted = Map.groupBy(w.platform.accepted, ({ to }) => to ?? '')
  const rows = await w.db.sql<
    { leadId: string; reason: string | null; sent: number; failed: number; skipped: number }[]
  >`
    select r.lead_id as "leadId", r.reason,
      (count(*) filter (where s.state = 'sent'))::integer as sent,
      (count(*) filter (where s.state = 'failed'))::integer as failed,
      (count(*) filter (where s.state = 'skipped'))::integer as skipped
    from sequence_runs r
    left join sequence_run_steps s on s.workspace_id = r.workspace_id and s.run_id = r.id
    where r.workspace_id = ${w.workspaceId}
    group by r.lead_id, r.reason`
  t.diagnostic(
    `${rows.length} runs, ${rounds * 2} kills: ${rows.filter(({ failed }) => failed > 0).length} with a failure`,
  )
  assert.equal(rows.length, leads.length)
  const byLead = new Map(rows.map((row) => [row.leadId, row]))
  for (const { id, phone } of leads) {
    const row = byLead.get(id)
    const got = accepted.get(phone)?.length ?? 0
    assert.ok(row !== undefined && row.reason === 'finished', `lost: ${row?.reason}`)
    assert.equal(row.sent + row.failed + row.skipped, 2)
    // A send that died before the call is not made again, because it cannot be known whether it was.
    assert.ok(got <= 1 && got >= row.sent, `${got} messages, ${row.sent} sent`)
  }
})
