import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFindLeads } from '../../src/app/inbox.ts'
import { notificationMailDeps } from '../../src/app/notifications.ts'
import { countAll } from '../../src/reports/count-changes.ts'
import { mailReports } from '../../src/reports/weekly-mail.ts'
import { inboxWorld } from '../support/inbox/inbox-world.ts'
import { signedInMember } from '../support/member.ts'
import { testNoon } from '../support/world.ts'
import { mailWorld } from './mail-world.ts'

const { sendDue, server } = await mailWorld()
const hour = 3_600_000

async function reportMailWorld() {
  const w = await inboxWorld()
  // A Tuesday.
  w.clock.set(testNoon)
  const member = await signedInMember(w)
  const save = async (query: string, page = 'reports') =>
    (await member.call('POST', '/saved-filters', { page, name: 'My week', query })).body.savedFilter?.id as string
  return {
    ...w,
    member,
    save,
    count: async () => {
      await w.sequencer.sequenceAll()
      await countAll({ ...w, findLeads: createFindLeads(w) }, w.workspaceId)
    },
    /** Returns the mails that are sent when the clock has been moved. */
    mailsAt: async (at: Date) => {
      w.clock.set(at)
      await mailReports(notificationMailDeps(w))
      await sendDue()
      return server.take()
    },
  }
}

test('a saved report is mailed every Monday to those who chose it, without names of customers and costs', async () => {
  const w = await reportMailWorld()
  const id = await w.save('')
  assert.equal((await w.member.call('PUT', `/reports/mails/${id}`, {})).status, 200)
  assert.deepEqual((await w.member.call('GET', '/reports/mails')).body, { filterIds: [id] })
  await w.customerWrites('Hello')
  await w.count()
  const monday = Date.parse('2026-03-16T08:00:00Z')
  assert.deepEqual(await w.mailsAt(new Date(monday - 1)), [])
  const [mail, ...more] = await w.mailsAt(new Date(monday))
  assert.equal(more.length, 0)
  assert.equal(mail?.subject, 'My week: the last week in Test')
  assert.match(mail?.text ?? '', /New conversations: 1 \(before: 0\)/)
  assert.ok(mail?.text?.includes(`/w/${w.workspaceId}/reports?days=7`))
  for (const hidden of ['Marina', '5581991234567', 'Hello']) {
    assert.ok(!`${mail?.text}${mail?.html}`.includes(hidden), hidden)
  }
  assert.deepEqual(await w.mailsAt(new Date(monday + hour)), [], 'once')
  const [next] = await w.mailsAt(new Date(monday + 7 * 24 * hour))
  assert.match(next?.text ?? '', /New conversations: 0 \(before: 1\)/)
  for (const status of [200, 404]) {
    assert.equal((await w.member.call('DELETE', `/reports/mails/${id}`)).status, status)
  }
  assert.deepEqual(await w.mailsAt(new Date(monday + 14 * 24 * hour)), [])
})

test('only a report that the caller can see is mailed, in their language', async () => {
  const w = await reportMailWorld()
  const view = await w.save('', 'inbox')
  const colleague = await signedInMember(w)
  const id = await w.save('')
  const choose = (by: typeof colleague, filterId: string) => by.call('PUT', `/reports/mails/${filterId}`, {})
  assert.equal((await choose(w.member, view)).status, 404)
  assert.equal((await choose(colleague, id)).status, 404)
  assert.equal((await choose(w.member, id)).status, 200)
  await w.db.sql`update users set language = 'pt' where id = ${w.member.userId}`
  const [mail] = await w.mailsAt(new Date('2026-03-16T08:00:00Z'))
  assert.equal(mail?.subject, 'My week: a última semana em Test')
})

test('a saved report that cannot be read keeps no other from being mailed', async () => {
  const w = await reportMailWorld()
  const broken = await w.save('dimension=source&value=%00')
  await w.member.call('PUT', `/reports/mails/${broken}`, {})
  await w.member.call('PUT', `/reports/mails/${await w.save('')}`, {})
  await w.member.call('PUT', `/reports/mails/${await w.save('days=abc&dimension=team&value=x')}`, {})
  assert.equal((await w.mailsAt(new Date('2026-03-16T08:00:00Z'))).length, 1)
})

test('the numbers of another person are not mailed to someone who may not see them', async () => {
  const w = await reportMailWorld()
  const admin = await signedInMember(w, 'admin')
  const id = await w.save(`dimension=person&value=${admin.userId}`)
  await w.member.call('PUT', `/reports/mails/${id}`, {})
  assert.deepEqual(await w.mailsAt(new Date('2026-03-16T08:00:00Z')), [])
})
