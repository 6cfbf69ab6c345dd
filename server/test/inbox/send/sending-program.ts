// Process that sends messages, all at once, and can be told to die after one step, as by `kill -9`. First prints
// `sessions <name>`, its name in the database, and then `answer <status> <body>` for each send if it lives long enough.
import { writeSync } from 'node:fs'
import { manualClock } from '../../../src/base/clock.ts'
import type { DbOptions } from '../../../src/base/db.ts'
import { openKeyStore } from '../../../src/base/encryption/key-store.ts'
import type { SendRequest } from '../../../src/inbox/send/send.ts'
import { createSend } from '../../../src/inbox/send/send.ts'
import type { Sender, SendStep } from '../../../src/inbox/send/send-deps.ts'
import { openFolderStore } from '../../../src/media/store/folder-store.ts'
import { afterStep } from '../../support/after-step.ts'
import { remoteConnector, remoteTransport } from '../../support/channels/fake-platform.ts'
import { openNode } from '../../support/database.ts'
import { sendDeps } from '../../support/inbox/send-deps.ts'

export interface SendingTask {
  database: DbOptions
  platformUrl: string
  mediaFolder: string
  now: string
  sender: Sender
  requests: SendRequest[]
  dieAfter: SendStep
  /** Occurrence of the step at which to die: the second one is in the second part of a long text. */
  passing: number
}

const task = JSON.parse(process.argv[2] ?? '{}') as SendingTask
const db = openNode({ ...task.database, maxConnections: 2 })
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
const send = createSend(deps)
const answers = await Promise.all(task.requests.map((request) => send(task.sender, request)))
for (const { status, body } of answers) writeSync(1, `answer ${status} ${body}\n`)
await db.close()
