import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { pushDeps } from '../../src/app/notifications.ts'
import { createPushSender } from '../../src/notifications/push/push.ts'
import { maxSubscriptions } from '../../src/notifications/push/subscriptions.ts'
import { pushAfterMs } from '../../src/notifications/record-notifications.ts'
import { signedInMember } from '../support/member.ts'
import { notificationsWorld } from '../support/notifications/notifications-world.ts'
import { testTeamToken } from '../support/world.ts'
import { newBrowser, signerOf, startPushService } from './push-service.ts'

const path = '/notices/push-subscriptions'

async function pushWorld() {
  const world = await notificationsWorld()
  const { w, place, ana, bea } = world
  const service = await startPushService()
  const browser = newBrowser(service)
  const pushDue = createPushSender(pushDeps(w))
  const subscribe = async (one = browser, by = bea) => by.call('POST', path, one.subscription)
  return {
    ...world,
    service,
    browser,
    subscribe,
    mention: () => ana.call('POST', `${place}/notes`, { text: 'A secret of ours', mentions: [bea.userId] }),
    push: async (afterMs = pushAfterMs) => {
      w.clock.advance(afterMs)
      await pushDue()
      return service.received.splice(0)
    },
    change: async (changes: object) => {
      const { settings } = (await bea.call('GET', '/notices/settings')).body
      assert.equal((await bea.call('PUT', '/notices/settings', { ...settings, ...changes })).status, 200)
    },
  }
}

test('an unread notification is pushed, encrypted for the browser and signed with the VAPID key', async () => {
  const { w, id, bea, service, browser, subscribe, mention, push } = await pushWorld()
  assert.equal((await subscribe()).status, 201)
  await mention()
  assert.deepEqual(await push(pushAfterMs - 1), [])
  const [pushed, ...more] = await push(1)
  assert.ok(pushed)
  assert.deepEqual(more, [])
  assert.equal(pushed.browser, browser.name)
  const { id: noticeId, ...shown } = browser.open(pushed)
  assert.deepEqual(shown, { title: 'Ana Lima mentioned you', body: '', url: `/w/${w.workspaceId}/inbox/${id}` })
  assert.equal(noticeId, (await bea.listNotifications())[0].id)
  assert.throws(() => newBrowser(service).open(pushed))
  assert.deepEqual(
    [pushed.headers['content-encoding'], pushed.headers.ttl, pushed.headers.urgency],
    ['aes128gcm', '14400', 'high'],
  )
  const { key, claims } = signerOf(pushed)
  assert.equal(key, (await bea.call('GET', '/notices/settings')).body.pushKey)
  assert.equal(claims.aud, service.url)
  assert.deepEqual(await push(), [], 'once')
  assert.ok(!w.logLines.some((line) => line.includes(browser.name)))
})

test('read or late notifications, and those in quiet hours, are not pushed', async () => {
  const { w, bea, subscribe, mention, push, change } = await pushWorld()
  await subscribe()
  await mention()
  await bea.call('POST', '/notices/read', {})
  assert.deepEqual(await push(), [])
  await mention()
  assert.deepEqual(await push(11 * 60_000), [])
  const day = { timeZone: 'UTC', from: '00:00', to: '00:01', days: ['monday', 'tuesday', 'wednesday', 'thursday'] }
  await change({ quiet: { ...day, days: [...day.days, 'friday', 'saturday', 'sunday'] } })
  await mention()
  assert.deepEqual(await push(), [])
  await change({ quiet: null })
  assert.deepEqual(await push(), [])
  await mention()
  assert.equal((await push()).length, 1)
  assert.equal((await w.db.sql`select from notices where push_at is not null and user_id = ${bea.userId}`).length, 0)
})

test('a push contains the name of the customer only by preference, and never message text', async () => {
  const { browser, subscribe, mention, push, change } = await pushWorld()
  await subscribe()
  await change({ pushNames: true })
  await mention()
  const [pushed] = await push()
  assert.ok(pushed)
  assert.equal(browser.open(pushed).body, 'Marina Duarte')
})

test('a push goes to all browsers of a person in their languages, except disabled kinds', async () => {
  const { service, ana, bea, place, subscribe, mention, push, change } = await pushWorld()
  const browsers = [newBrowser(service, 'es'), newBrowser(service, 'pt')]
  for (const one of browsers) await subscribe(one)
  await mention()
  const titles = (await push()).map(
    (pushed) => browsers.find(({ name }) => name === pushed.browser)?.open(pushed).title,
  )
  assert.deepEqual(titles.sort(), ['Ana Lima mencionou você', 'Ana Lima te mencionó'])
  const { settings } = (await bea.call('GET', '/notices/settings')).body
  await change({ ways: { ...settings.ways, mention: { ...settings.ways.mention, push: false } } })
  await mention()
  assert.deepEqual(await push(), [])
  await ana.call('PATCH', place, { assignedTo: bea.userId })
  assert.equal((await push()).length, 2)
})

test('a subscription that the push service reports as gone is removed; a temporary rejection keeps it', async () => {
  const { w, bea, service, subscribe, mention, push } = await pushWorld()
  const count = async () => (await w.db.sql`select from push_subscriptions where user_id = ${bea.userId}`).length
  await subscribe()
  service.answer(503)
  await mention()
  assert.equal((await push()).length, 1)
  assert.equal(await count(), 1)
  service.answer(410)
  await mention()
  assert.equal((await push()).length, 1)
  assert.equal(await count(), 0)
  service.answer(201)
  await mention()
  assert.deepEqual(await push(), [])
})

test('hanging push services do not delay other workspaces, and nothing is lost', async () => {
  const [slow, quick] = [await pushWorld(), await pushWorld()]
  const [sleeper, awake] = [newBrowser(slow.service), newBrowser(quick.service)]
  await slow.subscribe(sleeper)
  await quick.subscribe(awake)
  slow.service.answer('never')
  await slow.mention()
  assert.deepEqual(
    (await slow.push()).map(({ browser }) => browser),
    [sleeper.name],
  )
  await slow.mention()
  await quick.mention()
  await slow.push()
  assert.deepEqual(
    quick.service.received.map(({ browser }) => browser),
    [awake.name],
  )
  const waiting = await slow.w.db.sql`
    select from notices where push_at is not null and workspace_id = ${slow.w.workspaceId}`
  assert.equal(waiting.length, 1, 'the next one of the workspace that hangs')
})

test('a subscription ends with its session, its membership or on request; it is unique per browser, ten at most', async () => {
  const { w, bea, ana, service, browser, subscribe } = await pushWorld()
  const browsersOf = async (userId: string) =>
    (await w.db.sql`select from push_subscriptions where user_id = ${userId}`).length
  for (let n = 0; n < 2; n++) await subscribe()
  assert.equal(await browsersOf(bea.userId), 1)
  for (let n = 0; n < maxSubscriptions + 2; n++) await subscribe(newBrowser(service))
  assert.equal(await browsersOf(bea.userId), maxSubscriptions)
  const { id } = (await subscribe(browser, ana)).body
  assert.equal((await bea.call('DELETE', `${path}/${id}`)).status, 404)
  assert.deepEqual((await ana.call('DELETE', `${path}/${id}`)).body, { success: true })
  assert.equal(await browsersOf(ana.userId), 0)
  await subscribe(browser, ana)
  await signedInMember(w, 'owner')
  assert.equal((await ana.call('DELETE', `/members/${ana.userId}`)).status, 200)
  assert.equal(await browsersOf(ana.userId), 0)
  const signedOut = await w.app.inject({ method: 'POST', url: '/api/team/v1/sign-out', headers: bea.headers })
  assert.equal(signedOut.statusCode, 200)
  assert.equal(await browsersOf(bea.userId), 0)
})

test('private addresses and invalid keys are rejected', async () => {
  const { w, bea, browser } = await pushWorld()
  const good = browser.subscription
  for (const [changes, field] of [
    [{ endpoint: 'http://10.0.0.1/push' }, 'endpoint'],
    [{ endpoint: 'http://169.254.169.254/latest' }, 'endpoint'],
    [{ endpoint: 'ftp://push.example.com/a' }, 'endpoint'],
    [{ p256dh: 'A'.repeat(87) }, 'p256dh'],
    [{ p256dh: 'short' }, 'p256dh'],
    [{ auth: 'short' }, 'auth'],
  ] as const) {
    const refused = await bea.call('POST', path, { ...good, ...changes })
    assert.deepEqual([refused.status, refused.body.data.issues[0].path], [400, field], JSON.stringify(changes))
  }
  const at = `/api/team/v1/workspaces/${w.workspaceId}${path}`
  assert.equal((await w.call('POST', at, { key: testTeamToken, body: good })).status, 403)
  const id = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
  assert.equal((await w.call('DELETE', `${at}/${id}`, { key: testTeamToken })).status, 403)
  const stranger = await signedInMember((await notificationsWorld()).w)
  assert.equal(stranger.userId === bea.userId, false)
})

test('a bulk assignment records all notifications and pushes three', async () => {
  const { w, id, ana, bea, subscribe, push } = await pushWorld()
  await subscribe()
  const ids = [id]
  for (let n = 0; n < 4; n++) {
    const customer = { userId: null, parentUserId: null, phone: `551198000000${n}`, name: null }
    ids.push((await w.customerWrites('Hi', { customer })).id)
  }
  const many = { batchId: randomUUID(), ids, changes: { assignedTo: bea.userId } }
  assert.equal((await ana.call('POST', '/inbox/conversations/bulk', many)).status, 200)
  assert.equal((await push()).length, 3)
  assert.equal((await bea.listNotifications()).length, 5)
})
