import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { instanceScope } from '../../src/base/encryption/key-store.ts'
import { newId } from '../../src/base/id.ts'
import { maxWaiting, type NewMail, readMailBacklog, recordMail } from '../../src/mail/mails.ts'
import { createMailSender, pauseMs, retryDelayMs, watchMails } from '../../src/mail/send-mails.ts'
import { openNode, testDatabase } from '../support/database.ts'
import { atEnd } from '../support/file-lifecycle.ts'
import { mailerFor, mailWorld, smtpError, startMailServer } from './mail-world.ts'

const w = await mailWorld()
const { db, clock, server, sendDue } = w
const keys = await w.keyStore.keyring(instanceScope)
const dayMs = 24 * 3_600_000

const content = (to: string) => ({ to, subject: 'Hello', text: 'Hello', html: '<p>Hello</p>', unsubscribeUrl: null })

function mailTo(to: string, fields: Partial<NewMail> = {}): NewMail {
  const expiresAt = new Date(clock.now().getTime() + dayMs)
  const cause = `test:${randomUUID()}`
  return { kind: 'invitation', cause, workspaceId: null, userId: null, content: content(to), expiresAt, ...fields }
}

const record = (mail: NewMail) => db.tx((tx) => recordMail(tx, keys, mail, clock.now()))
const rowOf = async ({ cause }: NewMail) =>
  (
    await db.sql<{ status: string; attempts: number; content: Buffer | null; answer: Buffer; id: string }[]>`
      select status, attempts, content, answer, id from mails where cause = ${cause}`
  )[0]

test('a mail is sent once, and its address and text are erased', async () => {
  const mail = mailTo('once@example.com')
  assert.equal(await record(mail), true)
  assert.equal(await record(mail), false, 'the same cause')
  const stored = await rowOf(mail)
  assert.ok(stored?.content !== null && !stored?.content.includes('once@example.com'), 'encrypted')
  assert.equal(await sendDue(), 1)
  assert.equal(await sendDue(), 0)
  const [received, ...more] = server.take()
  assert.equal(more.length, 0)
  assert.match(JSON.stringify(received?.to), /once@example\.com/)
  const row = await rowOf(mail)
  assert.deepEqual([row?.status, row?.content, row?.attempts], ['sent', null, 1])
  assert.ok(!w.logLines.some((line) => line.includes('once@example.com')))
})

test('the metrics say how many mails wait, since when, and how they ended', async () => {
  const ended: string[] = []
  const send = createMailSender({ ...w, onEnd: (result) => ended.push(result) })
  assert.deepEqual(await readMailBacklog(db.sql), { waiting: 0, oldestAt: null })
  const recordedAt = clock.now()
  await record(mailTo('first@example.com'))
  clock.advance(60_000)
  await record(mailTo('refused@example.com'))
  assert.deepEqual(await readMailBacklog(db.sql), { waiting: 2, oldestAt: recordedAt })
  server.control.respond = async (step, address) =>
    step === 'recipient' && address.startsWith('refused') ? smtpError(550, 'No') : null
  await send()
  server.control.respond = async () => null
  server.take()
  assert.deepEqual(ended.toSorted(), ['refused', 'sent'])
  assert.equal((await readMailBacklog(db.sql)).waiting, 0)
})

test('a mail whose transaction fails is not sent', async () => {
  await assert.rejects(
    db.tx(async (tx) => {
      await recordMail(tx, keys, mailTo('never@example.com'), clock.now())
      throw new Error('rolled back')
    }),
  )
  assert.equal(await sendDue(), 0)
})

test('temporary answers are retried, then it is sent', async () => {
  const mail = mailTo('later@example.com')
  await record(mail)
  const answers = [smtpError(421, 'Too busy'), smtpError(451, 'Greylisted')]
  server.control.respond = async (step) => (step === 'recipient' ? (answers.shift() ?? null) : null)
  for (const attempts of [1, 2]) {
    await sendDue()
    assert.deepEqual([(await rowOf(mail))?.status, (await rowOf(mail))?.attempts], ['waiting', attempts])
    clock.advance(retryDelayMs(attempts) - 1)
    assert.equal(await sendDue(), 0, 'not before its time')
    clock.advance(1)
  }
  await sendDue()
  assert.deepEqual([(await rowOf(mail))?.status, server.take().length], ['sent', 1])
})

test('a refused mail is not tried again, and the words of the server are kept', async () => {
  const mail = mailTo('gone@example.com')
  await record(mail)
  server.control.respond = async (step) => (step === 'recipient' ? smtpError(550, 'No such mailbox') : null)
  await sendDue()
  server.control.respond = async () => null
  clock.advance(dayMs)
  assert.equal(await sendDue(), 0)
  const row = await rowOf(mail)
  assert.deepEqual([row?.status, row?.content], ['refused', null])
  const answer = { table: 'mails', row: row?.id ?? '', column: 'answer' }
  assert.match(keys.decryptText(answer, row?.answer ?? Buffer.alloc(0)), /550.*No such mailbox/)
  assert.ok(w.logLines.some((line) => line.includes('mail was refused by the mail server; not retrying')))
  assert.ok(!w.logLines.some((line) => line.includes('gone@example.com') || line.includes('No such mailbox')))
})

test('a mail is given up when its time is over', async () => {
  const [quick, slow] = [15 * 60_000, dayMs].map((ms) =>
    mailTo('busy@example.com', { expiresAt: new Date(clock.now().getTime() + ms) }),
  ) as [NewMail, NewMail]
  for (const mail of [quick, slow]) await record(mail)
  server.control.respond = async (step) => (step === 'recipient' ? smtpError(450, 'Busy') : null)
  for (let minute = 0; minute < 25 * 60; minute += 5) {
    await sendDue()
    clock.advance(5 * 60_000)
  }
  server.control.respond = async () => null
  const rows = [await rowOf(quick), await rowOf(slow)]
  assert.deepEqual(
    rows.map((row) => [row?.status, row?.attempts]),
    [
      ['expired', 3],
      ['expired', 12],
    ],
  )
})

test('while the server is away sending pauses, and all mails are sent when it is back', async () => {
  const mails = Array.from({ length: 12 }, (_, n) => mailTo(`away-${n}@example.com`))
  for (const mail of mails) await record(mail)
  const before = w.logLines.length
  const away = await startMailServer()
  await away.close()
  const sendToAway = createMailSender({ ...w, mailer: mailerFor(away.url) })
  await sendToAway()
  assert.equal(await sendToAway(), 0)
  const warnings = w.logLines.slice(before).filter((line) => line.includes('mail server is unreachable'))
  assert.equal(warnings.length, 1, 'paused')
  clock.advance(Math.max(pauseMs, retryDelayMs(1)))
  await sendDue()
  assert.equal(server.take().length, 12)
})

test('two processes that send at once send each mail once', async () => {
  const { options } = await testDatabase()
  const other = openNode(options)
  atEnd(() => other.close())
  const mails = Array.from({ length: 100 }, (_, n) => mailTo(`both-${n}@example.com`))
  for (const mail of mails) await record(mail)
  await Promise.all([sendDue(), createMailSender({ ...w, db: other })(), sendDue()])
  const ids = server.take().map(({ messageId }) => messageId)
  assert.deepEqual([ids.length, new Set(ids).size], [100, 100])
})

test('a mail that was taken is recorded although its lease has expired, and is then not sent again', async () => {
  const mail = mailTo('slow@example.com')
  await record(mail)
  server.control.respond = async (step) => {
    if (step === 'data') clock.advance(dayMs / 4)
    return null
  }
  await sendDue()
  server.control.respond = async () => null
  assert.equal(await sendDue(), 0)
  assert.deepEqual([(await rowOf(mail))?.status, server.take().length], ['sent', 1])
})

test('the lease of a process that has died ends at once', async () => {
  const mail = mailTo('heir@example.com')
  await record(mail)
  await db.sql`
    update mails
    set next_at = ${new Date(clock.now().getTime() + 200_000)}, lease_session = current_user || ' parley-of-the-dead'
    where cause = ${mail.cause}`
  assert.equal(await watchMails(w).isDue(), true)
  assert.equal(await sendDue(), 1)
  assert.equal(server.take().length, 1)
})

test('mails that a person waits for go first, then workspaces in turn', async () => {
  const [flood, small] = [newId(clock.now()), newId(clock.now())]
  const bulk = (workspaceId: string, n: number) =>
    mailTo(`${workspaceId === flood ? 'flood' : 'small'}-${n}@example.com`, { workspaceId, kind: 'notifications' })
  for (let n = 0; n < 60; n++) await record(bulk(flood, n))
  clock.advance(1000)
  for (let n = 0; n < 3; n++) await record(bulk(small, n))
  await record(mailTo('first@example.com', { kind: 'sign-in' }))
  const order: string[] = []
  server.control.respond = async (step, address) => {
    if (step === 'recipient') order.push(address.replace(/-.*/, ''))
    return null
  }
  await sendDue()
  server.control.respond = async () => null
  assert.equal(server.take().length, 64)
  const early = order.slice(0, 20)
  assert.ok(early.includes('first@example.com'))
  assert.equal(early.filter((name) => name === 'small').length, 3)
})

test('a workspace has a limited number of unsent mails', async () => {
  const workspaceId = newId(clock.now())
  await db.sql`
    insert into mails (id, kind, cause, workspace_id, priority, status, content, created_at, expires_at, next_at)
    select gen_random_uuid(), 'digest', 'full:' || n, ${workspaceId}::uuid, 1, 'waiting', '\\x00', ${clock.now()}::timestamptz,
      ${clock.now()}::timestamptz, 'infinity'
    from generate_series(1, ${maxWaiting}::integer) n`
  assert.equal(await record(mailTo('more@example.com', { workspaceId })), false)
  assert.equal(await record(mailTo('other@example.com', { workspaceId: newId(clock.now()) })), true)
  await db.sql`delete from mails where workspace_id = ${workspaceId}`
  await sendDue()
  server.take()
})
