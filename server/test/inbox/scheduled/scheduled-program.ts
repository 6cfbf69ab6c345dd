// Process that sends what is due, and dies after one step of a send, as by `kill -9`. First prints `sessions <name>`, its
// name in the database.
import { writeSync } from 'node:fs'
import { manualClock } from '../../../src/base/clock.ts'
import { openKeyStore } from '../../../src/base/encryption/key-store.ts'
import { sendDueMessages } from '../../../src/inbox/scheduled/send-due.ts'
import { openFolderStore } from '../../../src/media/store/folder-store.ts'
import { afterStep } from '../../support/after-step.ts'
import { remoteConnector, remoteTransport } from '../../support/channels/fake-platform.ts'
import { openNode } from '../../support/database.ts'
import { sendDeps } from '../../support/inbox/send-deps.ts'
import type { SendingTask } from '../send/sending-program.ts'

export type ScheduledTask = Omit<SendingTask, 'requests'>

const task = JSON.parse(process.argv[2] ?? '{}') as ScheduledTask
const db = openNode({ ...task.database, maxConnections: 4 })
const clock = manualClock(new Date(task.now))
const keyStore = openKeyStore(db, { current: Buffer.alloc(32, 7) }, clock)
const platform = { connector: remoteConnector(task.platformUrl), way: remoteTransport(task.platformUrl) }
const deps = await sendDeps(db, keyStore, clock, platform, openFolderStore(task.mediaFolder))
let passings = 0
deps.step = afterStep((step) => {
  if (step === task.dieAfter && ++passings === task.passing) process.kill(process.pid, 'SIGKILL')
})
const [session] = await db.sql<{ name: string }[]>`select current_setting('application_name') as name`
writeSync(1, `sessions ${session?.name}\n`)
await sendDueMessages({ ...deps, readAgentSender: async () => task.sender })
await db.close()
