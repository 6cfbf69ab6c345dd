import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runStep } from '../../../src/base/steps.ts'
import { createSlots } from '../../../src/webhooks/deliver/concurrency.ts'
import { createHolder, type Holder } from '../../../src/webhooks/deliver/holder.ts'
import type { PumpDeps } from '../../../src/webhooks/deliver/queue.ts'
import { noObserver } from '../../../src/webhooks/deliver/report.ts'
import { createSuccessBatcher } from '../../../src/webhooks/deliver/success-batcher.ts'
import { afterStep } from '../../support/steps.ts'
import { startReceiver } from '../../support/webhooks/webhook-receiver.ts'
import { presentAsRecorded, type WebhookWorld, webhookWorld } from '../../support/webhooks/webhook-world.ts'

/** The queues of a process that hears no news. */
function holderOf(w: WebhookWorld, deps: Partial<PumpDeps> = {}, { mayLinger = false, inFlight = 512 } = {}): Holder {
  const limits = { inFlight, failing: inFlight, unwritten: 128 }
  const parts = {
    present: presentAsRecorded,
    observe: noObserver,
    random: () => 0,
    step: runStep,
    slots: createSlots(limits, () => holder.count()),
    settler: createSuccessBatcher(w.db),
  }
  const holder = createHolder({ ...w, ...parts, ...deps }, () => mayLinger)
  return holder
}

/** Records an event and gives it its place. */
async function recordPlaced(w: WebhookWorld, n: number): Promise<string> {
  const [id = ''] = await w.recordEach(1, n)
  await w.sequencer.place(w.workspaceId)
  return id
}

test('an endpoint with a long backlog and a slow receiver leaves others their share of the requests', async () => {
  const w = await webhookWorld()
  const answers: PromiseWithResolvers<{ status: number }>[] = []
  w.receiver.answer(() => {
    const answer = Promise.withResolvers<{ status: number }>()
    answers.push(answer)
    return answer.promise
  })
  await w.recordEach(10)
  await w.sequencer.place(w.workspaceId)
  const loaded = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const waits = loaded.values()
  const step: PumpDeps['step'] = afterStep((name) => {
    if (name === 'load') waits.next().value?.resolve()
  })
  const holder = holderOf(w, { step }, { inFlight: 2 })
  await holder.claim([w.workspaceId])
  await w.receiver.reached(2)
  const quick = await startReceiver()
  await w.addEndpoint({ url: quick.url })
  await recordPlaced(w, 10)
  await holder.claim([w.workspaceId])
  await loaded[1]?.promise
  answers[0]?.resolve({ status: 200 })
  const next = await Promise.race([quick.reached(1).then(() => 'quick'), w.receiver.reached(3).then(() => 'slow')])
  w.receiver.answer(() => ({ status: 200 }))
  for (const answer of answers) answer.resolve({ status: 200 })
  await holder.done()
  assert.equal(next, 'quick')
  assert.equal(w.receiver.received.length, 10)
})
