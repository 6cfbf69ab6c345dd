// A worker of the product that delivers events recorded by run.ts. Run by run.ts in a process of its own.
import { systemClock } from '../server/src/base/clock.ts'
import { openDb } from '../server/src/base/db.ts'
import { openKeyStore } from '../server/src/base/encryption/key-store.ts'
import { createLog } from '../server/src/base/log.ts'
import { openOutgoing } from '../server/src/base/outgoing/guarded-fetch.ts'
import { lowerPriority } from '../server/src/base/process-limits.ts'
import { relayMessages } from '../server/src/base/pubsub.ts'
import { createSequencer } from '../server/src/events/sequence.ts'
import { createDeliveryWorker } from '../server/src/webhooks/deliver/worker.ts'
import { databaseOf } from './database-address.ts'
import { benchMasterKey } from './workspace.ts'

lowerPriority()
const db = openDb(databaseOf(process.env))
await relayMessages(db, () => {})
const worker = createDeliveryWorker({
  db,
  keyStore: openKeyStore(db, { current: benchMasterKey }, systemClock),
  clock: systemClock,
  log: createLog('error'),
  sequencer: createSequencer(db),
  outgoing: openOutgoing({ allowCidrs: ['127.0.0.0/8'] }),
  present: (_name, payload) => payload,
})
worker.start()
process.stdout.write('ready 0\n')
