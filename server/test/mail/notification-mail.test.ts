import assert from 'node:assert/strict'
import { test } from 'node:test'
import { notificationMailDeps } from '../../src/app/notifications.ts'
import { mailDigests } from '../../src/notifications/mail/digest.ts'
import { mailNotifications } from '../../src/notifications/mail/notification-mail.ts'
import { nextDigestAt } from '../../src/notifications/preferences.ts'
import { mailAfterMs } from '../../src/notifications/record-notifications.ts'
import { signedInMember } from '../support/member.ts'
import { notificationsWorld } from '../support/notifications/notifications-world.ts'
import { mailWorld } from './mail-world.ts'

const { sendDue, server } = await mailWorld()
const minuteMs = 60_000

async function mailingWorld() {
  const world = await notificationsWorld()
  const { w, place, ana, bea } = world
  const deps = notificationMailDeps(w)
  const change = async (changes: object) => {
    const { settings } = (await bea.call('GET', '/notices/settings')).body
    const answer = await bea.call('PUT', '/notices/settings', { ...settings, ...changes })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body.settings
  }
  const { settings } = (await bea.call('GET', '/notices/settings')).body
  const byMail = { ...settings.ways, mention: { ...settings.ways.mention, mail: true } }
  return {
    ...world,
    deps,
    change,
    byMail,
    mention: () => ana.call('POST', `${place}/notes`, { text: 'A secret of ours', mentions: [bea.userId] }),
    /** Returns the mails that are sent after this time. */
    mails: async (afterMs = mailAfterMs) => {
      w.clock.advance(afterMs)
      await mailNotifications(deps)
      await mailDigests(deps)
      await sendDue()
      return server.take()
    },
  }
}

test('a notification that is still unread after five minutes is mailed once, without words and names of customers', async () => {
  const { w, id, byMail, change, mention, mails } = await mailingWorld()
  await change({ ways: byMail })
  await mention()
  assert.deepEqual(await mails(mailAfterMs - 1), [])
  const [mail, ...more] = await mails(1)
  assert.equal(more.length, 0)
  assert.equal(mail?.subject, 'Ana Lima mentioned you')
  assert.ok(mail?.text?.includes(`/w/${w.workspaceId}/inbox/${id}`))
  for (const hidden of ['A secret of ours', 'Marina', '5581991234567']) {
    assert.ok(!`${mail?.text}${mail?.html}`.includes(hidden), hidden)
  }
  assert.ok(mail?.text?.includes(`/w/${w.workspaceId}/profile#notifications`))
  assert.deepEqual(await mails(), [], 'once')
})

test('by default, and for other kinds, nothing is mailed', async () => {
  const { ana, bea, place, byMail, change, mention, mails } = await mailingWorld()
  await mention()
  assert.deepEqual(await mails(), [])
  await change({ ways: byMail })
  await ana.call('PATCH', place, { assignedTo: bea.userId })
  assert.deepEqual(await mails(), [])
})

test('a notification that was read in time is not mailed', async () => {
  const { bea, byMail, change, mention, mails } = await mailingWorld()
  await change({ ways: byMail })
  await mention()
  await bea.call('POST', '/notices/read', {})
  assert.deepEqual(await mails(), [])
})

test('several unread notifications are one mail, in the language of the person', async () => {
  const { w, bea, byMail, change, mention, mails } = await mailingWorld()
  await change({ ways: byMail })
  await w.db.sql`update users set language = 'es' where id = ${bea.userId}`
  for (let n = 0; n < 23; n++) await mention()
  const [mail, ...more] = await mails()
  assert.equal(more.length, 0)
  assert.equal(mail?.subject, '23 notificaciones sin leer en Test')
  assert.equal(mail?.text?.split('Ana Lima te mencionó').length, 21)
  assert.ok(mail?.text?.includes('y 3 más'))
})

test('in quiet hours mail waits; after a day it is not sent any more', async () => {
  const { byMail, change, mention, mails } = await mailingWorld()
  const allDays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
  const quiet = { timeZone: 'UTC', from: '00:00', to: '00:01', days: allDays }
  await change({ ways: byMail, quiet })
  await mention()
  assert.deepEqual(await mails(), [])
  await change({ quiet: null })
  assert.deepEqual(await mails(14 * minuteMs), [])
  assert.equal((await mails(2 * minuteMs)).length, 1)
  await change({ quiet })
  await mention()
  assert.deepEqual(await mails(25 * 60 * minuteMs), [])
  await change({ quiet: null })
  assert.deepEqual(await mails(16 * minuteMs), [])
})

test('who has left the workspace gets no mail about it', async () => {
  const { w, bea, byMail, change, mention, mails } = await mailingWorld()
  await signedInMember(w, 'owner')
  await change({ ways: byMail })
  await mention()
  w.clock.advance(mailAfterMs)
  await mailNotifications(notificationMailDeps(w))
  assert.equal((await bea.call('DELETE', `/members/${bea.userId}`)).status, 200)
  assert.deepEqual(await mails(), [])
})

test('the digest comes daily at the time of the person, with numbers and links only', async () => {
  const { w, ana, bea, place, change, mention, mails } = await mailingWorld()
  const timeZone = 'America/Sao_Paulo'
  assert.deepEqual((await change({ digest: { timeZone, time: '09:30' } })).digest, { timeZone, time: '09:30' })
  await mention()
  await ana.call('PATCH', place, { assignedTo: bea.userId })
  const dueAt = nextDigestAt({ timeZone, time: '09:30' }, w.clock.now())
  assert.equal(dueAt.toISOString().slice(11, 16), '12:30')
  await change({ pushNames: true })
  assert.deepEqual(await mails(dueAt.getTime() - w.clock.now().getTime() - 1), [])
  const [mail, ...more] = await mails(1)
  assert.equal(more.length, 0)
  assert.equal(mail?.subject, 'Your day in Test')
  assert.match(mail?.text ?? '', /2 unread notifications/)
  assert.match(mail?.text ?? '', /1 open conversation of yours/)
  assert.ok(!mail?.text?.includes('Marina') && !mail?.text?.includes('Ana Lima'))
  assert.deepEqual(await mails(23 * 60 * minuteMs), [])
  assert.equal((await mails(60 * minuteMs)).length, 1)
  assert.equal((await change({ digest: null })).digest, null)
  assert.deepEqual(await mails(48 * 60 * minuteMs), [])
})

test('there is no digest if there is nothing, on a quiet day, or long after its time', async () => {
  const { w, bea, place, change, mention, mails } = await mailingWorld()
  const digest = { timeZone: 'UTC', time: '06:00' }
  await change({ digest })
  const dayMs = 24 * 60 * minuteMs
  const nextDay = async (hours = 6) => {
    const days = Math.floor(w.clock.now().getTime() / dayMs) + 1
    return mails(days * dayMs + hours * 60 * minuteMs - w.clock.now().getTime())
  }
  await bea.call('PATCH', place, { status: 'closed' })
  assert.deepEqual(await nextDay(), [], 'nothing')
  await mention()
  const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
  const tomorrow = weekdays[new Date(w.clock.now().getTime() + dayMs).getUTCDay()]
  await change({ quiet: { timeZone: 'UTC', from: '22:00', to: '23:00', days: [tomorrow] } })
  assert.deepEqual(await nextDay(), [], 'a quiet day')
  assert.equal((await nextDay()).length, 1)
  assert.deepEqual(await nextDay(13), [], 'seven hours late')
})

// 2026-03-29: clocks in Berlin go from 02:00 to 03:00; 2026-10-25: from 03:00 to 02:00.
const digestTimes: [timeZone: string, time: string, now: string, at: string][] = [
  ['UTC', '08:00', '2026-03-10T07:59:59Z', '2026-03-10T08:00:00Z'],
  ['UTC', '08:00', '2026-03-10T08:00:00Z', '2026-03-11T08:00:00Z'],
  ['America/Sao_Paulo', '23:30', '2026-03-11T01:00:00Z', '2026-03-11T02:30:00Z'],
  ['Pacific/Kiritimati', '08:00', '2026-03-10T17:00:00Z', '2026-03-10T18:00:00Z'],
  ['Europe/Berlin', '08:00', '2026-03-28T12:00:00Z', '2026-03-29T06:00:00Z'],
  ['Europe/Berlin', '02:30', '2026-03-28T12:00:00Z', '2026-03-29T00:30:00Z'],
  ['Europe/Berlin', '02:30', '2026-10-24T12:00:00Z', '2026-10-25T00:30:00Z'],
  ['Europe/Berlin', '02:30', '2026-10-25T00:30:00Z', '2026-10-26T01:30:00Z'],
]
for (const [timeZone, time, now, at] of digestTimes) {
  test(`after ${now}, ${time} in ${timeZone} is ${at}`, () => {
    assert.equal(nextDigestAt({ timeZone, time }, new Date(now)).getTime(), Date.parse(at))
  })
}

test('a digest in an unknown time zone is refused', async () => {
  const { bea } = await mailingWorld()
  const { settings } = (await bea.call('GET', '/notices/settings')).body
  const answer = await bea.call('PUT', '/notices/settings', {
    ...settings,
    digest: { timeZone: 'Mars', time: '08:00' },
  })
  assert.equal(answer.status, 400)
  assert.equal(answer.body.data.issues[0].path, 'digest.timeZone')
})
