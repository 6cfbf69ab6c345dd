// A process that only delivers webhooks, for tests that kill it. Prints `ready` when it has
// started, and ends on SIGTERM.
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
import { afterStep } from '../../support/after-step.ts'
import { openNode } from '../../support/database.ts'
import { type FastTime, fastClock } from './fast-clock.ts'

export interface DeliveringTask {
  database: DbOptions
  time: FastTime
  /** File for requests that timed out. */
  givenUpFile: string
  /** Step after which the process kills itself like `kill -9`, and at which occurrence. */
  dieAfter: { step: DeliveryStep; passing: number } | null
}

const { database, time, givenUpFile, dieAfter } = JSON.parse(process.argv[2] ?? '{}') as DeliveringTask
const db = openNode({ ...database, maxConnections: 8 })
const outgoing = openOutgoing({ allowCidrs: ['127.0.0.0/8'] })
const stopRelay = await relayMessages(db, () => {})
const call = async (request: OutgoingRequest) => {
  // Includes sender and time: a receiver can read it after the sender has died.
  const sender = { 'x-worker': String(process.pid), 'x-sent-at': String(performance.timeOrigin + performance.now()) }
  // Longer pauses would slow down the test.
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

// Ends the process if the test was aborted.
const parent = process.ppid
setInterval(() => process.ppid === parent || process.exit(1), 1000).unref()
process.once('SIGTERM', async () => {
  await worker.stop()
  stopRelay()
  outgoing.close()
  await db.close()
})
