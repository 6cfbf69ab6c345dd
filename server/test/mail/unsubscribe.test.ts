import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ParsedMail } from 'mailparser'
import { notificationMailDeps } from '../../src/app/notifications.ts'
import { mailDigests } from '../../src/notifications/mail/digest.ts'
import { mailNotifications } from '../../src/notifications/mail/notification-mail.ts'
import { nextDigestAt } from '../../src/notifications/preferences.ts'
import { mailAfterMs } from '../../src/notifications/record-notifications.ts'
import { notificationsWorld } from '../support/notifications/notifications-world.ts'
import { mailWorld } from './mail-world.ts'

const { sendDue, server, app } = await mailWorld()
const digest = { timeZone: 'UTC', time: '09:30' }

async function subscribedWorld() {
  const { w, place, ana, bea } = await notificationsWorld()
  const deps = notificationMailDeps(w)
  const settings = async () => (await bea.call('GET', '/notices/settings')).body.settings
  const { ways, ...rest } = await settings()
  const byMail = { ...ways, mention: { ...ways.mention, mail: true }, task: { ...ways.task, mail: true } }
  assert.equal((await bea.call('PUT', '/notices/settings', { ...rest, ways: byMail, digest })).status, 200)
  return {
    w,
    settings,
    mention: () => ana.call('POST', `${place}/notes`, { text: 'Look', mentions: [bea.userId] }),
    mails: async (afterMs = mailAfterMs) => {
      w.clock.advance(afterMs)
      await mailNotifications(deps)
      await mailDigests(deps)
      await sendDue()
      // People of earlier tests get digests too.
      return server.take().filter(({ text }) => text?.includes(w.workspaceId))
    },
    untilDigest: () => nextDigestAt(digest, w.clock.now()).getTime() - w.clock.now().getTime(),
  }
}

/** Returns the path of the link in the header. */
function linkOf(mail: ParsedMail | undefined): string {
  assert.ok(mail !== undefined)
  const { unsubscribe } = mail.headers.get('list') as unknown as { unsubscribe: { url: string } }
  const { pathname, search } = new URL(unsubscribe.url)
  return `${pathname}${search}`
}

const oneClick = (url: string, contentType = 'application/x-www-form-urlencoded') =>
  app.inject({ method: 'POST', url, headers: { 'content-type': contentType }, payload: 'List-Unsubscribe=One-Click' })

test('one POST of a mail program, without a session, stops mail about notifications, and nothing else', async () => {
  const { settings, mention, mails } = await subscribedWorld()
  await mention()
  const [mail] = await mails()
  const url = linkOf(mail)
  await mention()
  const opened = await app.inject({ url })
  assert.equal(opened.statusCode, 200)
  assert.match(opened.body, /<form[^>]* method="post">/)
  assert.match(String(opened.headers['content-security-policy']), /form-action 'self'/)
  assert.equal((await settings()).ways.mention.mail, true, 'opening a link changes nothing')
  for (const contentType of ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    const done = await oneClick(url, contentType)
    assert.equal(done.statusCode, 200, done.body)
    assert.match(done.body, /You are unsubscribed/)
  }
  const { ways, digest: kept } = await settings()
  assert.ok(Object.values(ways as Record<string, { mail: boolean }>).every((one) => !one.mail))
  assert.deepEqual([ways.mention.bell, kept], [true, digest])
  assert.deepEqual(await mails(), [], 'what was due is not mailed either')
})

test('the link of the digest stops the digest only', async () => {
  const { settings, mention, mails, untilDigest } = await subscribedWorld()
  await mention()
  const sent = await mails(untilDigest())
  const mail = sent.find(({ subject }) => subject?.startsWith('Your day'))
  const done = await app.inject({
    method: 'POST',
    url: linkOf(mail),
    headers: { 'accept-language': 'pt-BR', 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'List-Unsubscribe=One-Click',
  })
  assert.match(done.body, /resumo diário/)
  const { ways, digest: left } = await settings()
  assert.deepEqual([ways.mention.mail, left], [true, null])
  assert.deepEqual(await mails(untilDigest()), [])
})

test('a link that was altered changes nothing, and says so', async () => {
  const { settings, mention, mails, w } = await subscribedWorld()
  await mention()
  const [mail] = await mails()
  const url = linkOf(mail)
  const altered = [
    url.replace('notifications.', 'digest.'),
    url.replace(w.workspaceId, '01985e2a-0000-7000-8000-000000000001'),
    `${url}A`,
    url.slice(0, -1),
    '/unsubscribe',
    `/unsubscribe?token=${'.'.repeat(2000)}`,
  ]
  for (const one of altered) {
    for (const method of ['GET', 'POST'] as const) {
      const answer = await app.inject({ method, url: one, headers: { 'accept-language': 'es' } })
      assert.equal(answer.statusCode, 404, one)
      assert.match(answer.body, /Este enlace ya no funciona/)
    }
  }
  const { ways, digest: kept } = await settings()
  assert.deepEqual([ways.mention.mail, kept], [true, digest])
})
