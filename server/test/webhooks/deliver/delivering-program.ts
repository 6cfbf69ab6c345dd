// A process that does nothing but deliver events to webhooks, for the tests that kill it. It says `ready` when it has
// begun, and ends of itself on SIGTERM.
import { appendFileSync, writeSync } from 'node:fs'
import { systemClock } from '../../../src/base/clock.ts'
import type { DbOptions } from '../../../src/base/db.ts'
import { openKeyStore } from '../../../src/base/encryption/key-store.ts'
import { createLog } from '../../../src/base/log.ts'
import { openOutgoing } from '../../../src/base/outgoing/guarded-fetch.ts'
import type { OutgoingRequest } from '../../../src/base/outgoing/http-exchange.ts'
import { relayMessages } from '../../../src/base/pubsub.ts'
import { createSequencer } from '../../../src/events/sequence.ts'
import type { DeliveryStep } from '../../../src/webhooks/deliver/queue.ts'
import { createDeliveryWorker } from '../../../src/webhooks/deliver/worker.ts'
import { openNode } from '../../support/database.ts'
import { afterStep } from '../../support/steps.ts'
import { type FastTime, fastClock } from './fast-clock.ts'

export interface DeliveringTask {
  database: DbOptions
  time: FastTime
  /** Where it notes what was not answered within its time. */
  givenUpFile: string
  /** The step after which the process is to die, as `kill -9` would make it, and at which passing of it. */
  dieAfter: { step: DeliveryStep; passing: number } | null
}

const { database, time, givenUpFile, dieAfter } = JSON.parse(process.argv[2] ?? '{}') as DeliveringTask
const db = openNode({ ...database, maxConnections: 8 })
const outgoing = openOutgoing({ allowCidrs: ['127.0.0.0/8'] })
const stopRelay = await relayMessages(db, () => {})
const call = async (request: OutgoingRequest) => {
  // Says who sent it and when: a receiver may come to read it after its sender's death.
  const sender = { 'x-worker': String(process.pid), 'x-sent-at': String(performance.timeOrigin + performance.now()) }
  // For longer than these seconds a test would wait too long.
  const answer = await outgoing.call({ ...request, headers: { ...request.headers, ...sender }, timeoutMs: 3_000 })
  if (answer.outcome === 'failed' && answer.error === 'timeout')
    appendFileSync(givenUpFile, `${process.pid} ${request.url} ${request.headers['webhook-id']}\n`)
  return answer
}
let passings = 0
const worker = createDeliveryWorker({
  db,
  keyStore: openKeyStore(db, { current: Buffer.alloc(32, 7) }, systemClock),
  clock: fastClock(time),
  log: createLog('error'),
  sequencer: createSequencer(db),
  outgoing: { call },
  present: (_name, payload) => payload,
  step: afterStep((step) => {
    if (step === dieAfter?.step && ++passings === dieAfter.passing) process.kill(process.pid, 'SIGKILL')
  }),
})
worker.start()
writeSync(1, 'ready now\n')

// A test that was cut off leaves nobody who would end this process.
const parent = process.ppid
setInterval(() => process.ppid === parent || process.exit(1), 1000).unref()
process.once('SIGTERM', async () => {
  await worker.stop()
  stopRelay()
  outgoing.close()
  await db.close()
})
