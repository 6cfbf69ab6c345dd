// A process that takes deliveries in together and may be told to die over one of its statements, as `kill -9` would make it.
// It says `taken <how many> <statements>` when it lives long enough.
import { writeSync } from 'node:fs'
import { manualClock } from '../../../src/base/clock.ts'
import type { DbOptions } from '../../../src/base/db.ts'
import { createLog } from '../../../src/base/log.ts'
import { openVault } from '../../../src/base/sealing/vault.ts'
import { openNode } from '../database.ts'
import { tellTogether } from './deliveries-together.ts'
import { pictureTold } from './files-told.ts'
import { customerMessage } from './inbox-world.ts'

export interface ReceivingTask {
  database: DbOptions
  now: string
  workspaceId: string
  connectionId: string
  /** A delivery of one message for each. */
  phones: string[]
  /** At which statement to die; 0: at none. */
  dieAt: number
  /** Whether that statement is on its way to the database by then, with all that is sent beside it. */
  isSent: boolean
}

/** The picture of a customer: the same in each process that is told of it. */
export const messageOf = (phone: string, now: Date) =>
  customerMessage({
    at: now,
    externalId: `wamid.${phone}`,
    customer: { userId: null, parentUserId: null, phone, name: 'Ana' },
    kind: 'image',
    detail: { media: pictureTold },
  })

if (import.meta.main) {
  const task = JSON.parse(process.argv[2] ?? '{}') as ReceivingTask
  let statements = 0
  const die = () => process.kill(process.pid, 'SIGKILL')
  const onStatement = () => {
    if (++statements !== task.dieAt) return
    if (task.isSent) setImmediate(() => setImmediate(die))
    else die()
  }
  const db = openNode({ ...task.database, maxConnections: 4, onStatement })
  const clock = manualClock(new Date(task.now))
  const vault = openVault(db, { current: Buffer.alloc(32, 7) }, clock)
  const nothing = async () => {}
  const receiveDeps = {
    db,
    vault,
    clock,
    log: createLog('silent'),
    connectionTold: nothing,
    sendRefused: nothing,
    customersWrote: nothing,
  }
  const lists = task.phones.map((phone) => [messageOf(phone, clock.now())])
  const taken = await tellTogether({ ...task, receiveDeps }, lists)
  writeSync(1, `taken ${taken.filter(Boolean).length} ${statements}\n`)
  await db.close()
}
