import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { maxConnections } from '../../src/mail/mailer.ts'
import { testDatabase } from '../support/database.ts'
import { atEnd } from '../support/file-lifecycle.ts'
import { ask, newWorkspace, operatorToken, type Service, startService } from '../support/program/service.ts'
import { nodeSettings } from '../support/program/two-nodes.ts'
import { startMailServer } from './mail-world.ts'

const mailCount = Number(process.env.KILLED_MAILS ?? 520)
const kills = Number(process.env.MAIL_KILLS ?? 4)
const writers = 8

test(`of ${mailCount} mails none is lost and none is sent twice, whenever the processes that send them are killed`, async (t) => {
  const database = await testDatabase()
  const server = await startMailServer()
  // Long enough that a kill meets mails at every step.
  server.control.respond = async () => {
    await sleep(Math.random() * 20)
    return null
  }
  const env = { ...nodeSettings(database), PARLEY_SMTP_URL: server.url, PARLEY_MAIL_FROM: 'parley@example.com' }
  const api = await startService({ env, args: ['--only', 'api'] })
  const startWorker = () => startService({ env: { ...env, PARLEY_SIMULATOR: '0' }, args: ['--only', 'worker'] })
  const workers: Service[] = [await startWorker(), await startWorker()]
  atEnd(async () => {
    for (const one of [api, ...workers]) one.kill()
  })
  const { workspaceId } = await newWorkspace(api.url)

  const accepted: string[] = []
  let next = 0
  const write = async () => {
    while (next < mailCount) {
      const email = `person-${next++}@example.com`
      const body = { email, role: 'member' }
      const { status, text } = await ask(
        api.url,
        operatorToken,
        `POST /api/team/v1/workspaces/${workspaceId}/invitations`,
        body,
      )
      assert.equal(status, 201, text)
      accepted.push(email)
    }
  }
  const writing = Promise.all(Array.from({ length: writers }, write))
  for (let round = 0; round < kills; round++) {
    await until(() => server.received.length >= ((round + 1) * mailCount) / (kills + 2))
    const victim = workers[round % 2]
    victim?.kill()
    await victim?.exited
    workers[round % 2] = await startWorker()
  }
  await writing
  const waiting = async () => (await database.db.sql`select from mails where status = 'waiting'`).length
  while ((await waiting()) > 0) await sleep(100)

  const idsOf = Map.groupBy(
    server.received,
    (mail) => JSON.stringify(mail.to).match(/person-\d+@example\.com/)?.[0] ?? '',
  )
  assert.deepEqual([...idsOf.keys()].sort(), accepted.toSorted(), 'none is lost')
  const different = [...idsOf].filter(([, mails]) => new Set(mails.map(({ messageId }) => messageId)).size > 1)
  assert.deepEqual(different, [], 'a repeat has the same Message-ID')
  const repeats = server.received.length - idsOf.size
  t.diagnostic(`${server.received.length} mails received, ${repeats} of them again after a kill`)
  assert.ok(repeats <= kills * maxConnections, 'only mails that were being sent at a kill')
})

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(10)
}
