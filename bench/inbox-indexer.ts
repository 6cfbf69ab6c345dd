// Creates the search tokens of messages as the product's worker does. Indexes one-minute-old messages like new ones, so
// that a short run covers all of its work. Run by run.ts in a process of its own.
import { setTimeout as sleep } from 'node:timers/promises'
import { shiftedClock, systemClock } from '../server/src/base/clock.ts'
import { openDb } from '../server/src/base/db.ts'
import { openKeyStore } from '../server/src/base/encryption/key-store.ts'
import { lowerPriority } from '../server/src/base/process-limits.ts'
import { indexInbox, settledMs } from '../server/src/inbox/search/index-inbox.ts'
import { databaseOf } from './database-address.ts'
import { benchMasterKey } from './workspace.ts'

lowerPriority()
const db = openDb(databaseOf(process.env))
const clock = shiftedClock(systemClock)
clock.shiftTo(settledMs)
const keyStore = openKeyStore(db, { current: benchMasterKey }, clock)
process.stdout.write('ready 0\n')
for (;;) {
  await indexInbox({ db, keyStore, clock })
  await sleep(1_000)
}
