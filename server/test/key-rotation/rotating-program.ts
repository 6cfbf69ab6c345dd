// A process that takes the steps of rotations which are due at a time, and says `step` after each. Between them it makes
// search tokens, as every worker does. It may be killed.
import { writeSync } from 'node:fs'
import { manualClock } from '../../src/base/clock.ts'
import type { DbOptions } from '../../src/base/db.ts'
import { openKeyStore } from '../../src/base/encryption/key-store.ts'
import { createSequencer } from '../../src/events/sequence.ts'
import { runNextStep } from '../../src/key-rotation/rotation.ts'
import { openNode } from '../support/database.ts'
import { rotationDeps } from '../support/key-rotation/rotate-keys.ts'
import { makeTokens } from '../support/tokens.ts'

export interface RotatingTask {
  database: DbOptions
  now: string
}

const task = JSON.parse(process.argv[2] ?? '{}') as RotatingTask
const db = openNode({ ...task.database, maxConnections: 2 })
const clock = manualClock(new Date(task.now))
const deps = rotationDeps(db, openKeyStore(db, { current: Buffer.alloc(32, 7) }, clock), clock)
const sequencer = createSequencer(db)
while (await runNextStep(deps)) {
  writeSync(1, 'step\n')
  await makeTokens({ ...deps, sequencer })
}
await db.close()
