import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, beforeEach, test } from 'node:test'
import { applyPlatformSignal, applyRefusal } from '../../../src/channels/health/platform-signals.ts'
import { refreshNumberStatus } from '../../../src/channels/health/refresh-number-status.ts'
import { syncDueTemplates } from '../../../src/channels/templates/sync-templates.ts'
import { findTemplate, listSendableTemplates } from '../../../src/channels/templates/templates.ts'
import { liveUpdatesTopic } from '../../../src/team/live-updates.ts'
import { type ChannelWorld, channelWorld } from '../../support/channels/channel-world.ts'
import { platformServer, type ReceivedRequest, sendJson } from '../../support/channels/platform-server.ts'
import { testDatabase } from '../../support/database.ts'

const { sql } = (await testDatabase()).db
const platform = await platformServer()
after(() => platform.close())

type Listed = Record<string, unknown>
let pages: Listed[][] = []

// The tests of a file share a database: connections of earlier tests must not be due in later ones.
beforeEach(async () => {
  await sql`update connections set templates_due_at = null`
  platform.requests = []
  pages = []
  platform.answer = (asked, response) => {
    if (!asked.url.includes('/message_templates')) return sendJson(response, 200, { id: '1' })
    const page = Number(new URL(asked.url, 'http://x').searchParams.get('after') ?? 0)
    const next = page + 1 < pages.length ? { next: 'https://elsewhere.example/?access_token=x' } : {}
    sendJson(response, 200, { data: pages[page], paging: { cursors: { after: String(page + 1) }, ...next } })
  }
})

const template = (name: string, more: Listed = {}): Listed => ({
  id: '1',
  name,
  language: 'en_US',
  status: 'APPROVED',
  category: 'UTILITY',
  parameter_format: 'POSITIONAL',
  components: [{ type: 'BODY', text: 'Hi {{1}}' }],
  ...more,
})

const lists = (asked: ReceivedRequest[]) => asked.filter(({ url }) => url.includes('/message_templates'))
const sync = (w: ChannelWorld, id: string) => w.call('POST', `/${id}/templates/sync`)
const names = async (w: ChannelWorld, ids: string[] | null = null) =>
  (await listSendableTemplates(sql, w.workspaceId, ids)).map((one) => one.name)

test('all pages are read by cursor, none after the last', async () => {
  const w = await channelWorld(platform.baseUrl)
  const one = await w.connect()
  pages = [[template('a'), template('b')], [template('c')], [template('d'), template('a')]]
  const answer = await sync(w, one.id)
  assert.equal(answer.statusCode, 200)
  assert.deepEqual(
    answer.json().templates.map((t: { name: string }) => t.name),
    ['a', 'b', 'c', 'd'],
  )
  const asked = lists(platform.requests)
  assert.deepEqual(
    asked.map(({ url }) => new URL(url, 'http://x').searchParams.get('after')),
    [null, '1', '2'],
  )
  assert.ok(asked[0]?.url.startsWith(`/v27.0/${one.accountId}/message_templates?`))
  assert.equal(asked[0]?.headers.authorization, 'Bearer an-access-token-of-24-chars')
})

test('only approved templates with body parameters can be sent, by the team also with a file; the team sees all', async () => {
  const w = await channelWorld(platform.baseUrl)
  const one = await w.connect()
  const named = [{ type: 'BODY', text: 'Hi {{first}}, {{order}} and {{ first }}' }]
  pages = [
    [
      template('good'),
      template('named', { parameter_format: 'NAMED', components: named, language: 'pt-BR' }),
      template('paused', { status: 'PAUSED' }),
      template('picture', {
        components: [
          { type: 'HEADER', format: 'IMAGE' },
          { type: 'BODY', text: 'x' },
        ],
      }),
      template('code', { category: 'AUTHENTICATION' }),
      { name: 'broken' },
    ],
  ]
  const shown = (await sync(w, one.id)).json().templates
  assert.deepEqual(
    shown.map((t: Listed) => [t.name, t.sendable, t.header]),
    [
      ['code', false, null],
      ['good', true, null],
      ['named', true, null],
      ['paused', false, null],
      ['picture', true, 'image'],
    ],
  )
  assert.deepEqual(await names(w), ['good', 'named'])
  const found = await findTemplate(sql, w.workspaceId, one.id, 'named', 'pt_BR')
  assert.deepEqual(
    [found?.body, found?.parameterNames, found?.parameterCount],
    ['Hi {{1}}, {{2}} and {{1}}', ['first', 'order'], 2],
  )
  assert.equal((await findTemplate(sql, w.workspaceId, one.id, 'named', 'pt-BR'))?.id, found?.id)
  assert.equal(await findTemplate(sql, w.workspaceId, one.id, 'named', 'en_US'), undefined)
  assert.equal((await findTemplate(sql, w.workspaceId, one.id, 'paused', 'en_US'))?.status, 'PAUSED')
})

/** Notifications of the team about a working connection. */
const reasonsTold = async ({ workspaceId }: ChannelWorld) => {
  const rows = await sql<{ reason: string }[]>`
    select distinct reason from notices where workspace_id = ${workspaceId} and reason is not null order by reason`
  return rows.map(({ reason }) => reason)
}

/** A member to notify. */
async function addMember({ workspaceId, clock }: ChannelWorld): Promise<void> {
  const [id, now] = [randomUUID(), clock.now()]
  await sql`
    insert into users (id, person, email_index, index_version, created_at)
    values (${id}, ${Buffer.from(id)}, ${Buffer.from(id)}, 1, ${now})`
  await sql`insert into members (workspace_id, user_id, role, created_at) values (${workspaceId}, ${id}, 'member', ${now})`
}

test('a changed category is notified once, and the marketing endpoint is stored', async () => {
  const w = await channelWorld(platform.baseUrl)
  await addMember(w)
  const one = await w.connect()
  const sends = async () => {
    const [row] = await sql<[{ sends: boolean }]>`select sends_marketing as sends from connections where id = ${one.id}`
    return row.sends
  }
  pages = [[template('a'), template('b')]]
  await sync(w, one.id)
  assert.deepEqual([await reasonsTold(w), await sends()], [[], false])
  const { answer } = platform
  platform.answer = (asked, response, socket) =>
    asked.url.includes('marketing_messages_onboarding_status')
      ? sendJson(response, 200, { id: '1', marketing_messages_onboarding_status: 'ONBOARDED' })
      : answer(asked, response, socket)
  pages = [[template('a', { category: 'MARKETING' }), template('b'), template('c', { category: 'MARKETING' })]]
  await sync(w, one.id)
  await sync(w, one.id)
  assert.deepEqual([await reasonsTold(w), await sends()], [['template_category a MARKETING'], true])
})

test('a category that the platform announces counts at once and is notified once; the next sync finds it', async () => {
  const w = await channelWorld(platform.baseUrl)
  await addMember(w)
  const one = await w.connect()
  pages = [[template('a'), template('b')]]
  await sync(w, one.id)
  const category = { name: 'a', language: 'en_US', category: 'MARKETING' }
  await applyPlatformSignal(w.deps, one, { type: 'templates_changed', category })
  await applyPlatformSignal(w.deps, one, { type: 'templates_changed', category })
  const categories = async () =>
    (await listSendableTemplates(sql, w.workspaceId, [one.id])).map((each) => `${each.name} ${each.category}`)
  assert.deepEqual(await categories(), ['a MARKETING', 'b UTILITY'])
  pages = [[template('a', { category: 'MARKETING' }), template('b')]]
  await sync(w, one.id)
  await applyPlatformSignal(w.deps, one, { type: 'templates_changed', category: { ...category, name: 'unknown' } })
  assert.deepEqual(await reasonsTold(w), ['template_category a MARKETING'])
})

test('the end of the API version is notified once, from 60 days before, until another version is used', async () => {
  const w = await channelWorld(platform.baseUrl)
  await addMember(w)
  const one = await w.connect()
  pages = [[]]
  await w.call('PATCH', `/${one.id}`, { version: 'v25.0' })
  const shown = async () => (await w.call('GET', `/${one.id}`)).json().connection
  await sync(w, one.id)
  assert.deepEqual([(await shown()).versionEndsOn, await reasonsTold(w)], ['2028-07-29', []])
  w.clock.advance(Date.parse('2028-05-30T00:00:00.000Z') - w.clock.now().getTime() - 1)
  await sync(w, one.id)
  assert.deepEqual(await reasonsTold(w), [])
  w.clock.advance(1)
  await sync(w, one.id)
  await sync(w, one.id)
  assert.deepEqual(await reasonsTold(w), ['version_ending'])
  assert.deepEqual(
    (await shown()).holds.map(({ stops, reason }: Listed) => [stops, reason]),
    [['nothing', 'version_ending']],
  )
  assert.equal((await w.call('PATCH', `/${one.id}`, { version: 'v26.0' })).statusCode, 200)
  await sync(w, one.id)
  assert.deepEqual((await shown()).holds, [])
})

test('a template keeps its id when it changes, and is deleted when the platform no longer has it', async () => {
  const w = await channelWorld(platform.baseUrl)
  const one = await w.connect()
  pages = [[template('a'), template('b'), template('a', { language: 'de' })]]
  const before = (await sync(w, one.id)).json().templates
  pages = [[template('a', { components: [{ type: 'BODY', text: 'New {{1}} {{2}}' }], category: 'MARKETING' })]]
  const changed = (await sync(w, one.id)).json().templates
  assert.equal(changed.length, 1)
  const idBefore = before.find((t: Listed) => t.name === 'a' && t.language === 'en_US').id
  assert.deepEqual([changed[0].id, changed[0].body, changed[0].category], [idBefore, 'New {{1}} {{2}}', 'MARKETING'])
  pages = [[]]
  assert.deepEqual((await sync(w, one.id)).json().templates, [])
})

test('a live update is sent when a sync adds, changes or deletes templates, and not otherwise', async () => {
  const w = await channelWorld(platform.baseUrl)
  const one = await w.connect()
  const told: string[] = []
  const stop = w.deps.db.subscribe(liveUpdatesTopic, (id) => told.push(id))
  const [a, paused, b] = [template('a'), template('a', { status: 'PAUSED' }), template('b')]
  const news = [`${w.workspaceId} team.connection.changed ${one.id}`]
  for (const [listed, expected] of [
    [[], []],
    [[a], news],
    [[a], []],
    [[paused], news],
    [[paused, b], news],
    [[b], news],
    [[b], []],
  ]) {
    pages = [listed as Listed[]]
    await sync(w, one.id)
    assert.deepEqual(told.splice(0), expected)
  }
  stop()
})

test('templates belong to one connection and one workspace', async () => {
  const [w, other] = [await channelWorld(platform.baseUrl), await channelWorld(platform.baseUrl)]
  const [a, b] = [await w.connect(), await w.connect()]
  for (const [{ id }, name] of [
    [a, 'first'],
    [b, 'second'],
  ] as const) {
    pages = [[template(name)]]
    await sync(w, id)
  }
  assert.deepEqual([await names(w), await names(w, [b.id]), await names(w, [])], [['first', 'second'], ['second'], []])
  assert.deepEqual(await names(other), [])
  await w.call('DELETE', `/${a.id}`)
  assert.deepEqual(await names(w), ['second'])
})

test('a sync that fails halfway changes nothing and returns the code', async () => {
  const w = await channelWorld(platform.baseUrl)
  const one = await w.connect()
  pages = [[template('a')], [template('b')]]
  await sync(w, one.id)
  const whole = platform.answer
  platform.answer = (asked, response, socket) => {
    if (asked.url.includes('after=1')) return sendJson(response, 400, { error: { code: 80007 } })
    whole(asked, response, socket)
  }
  pages = [[template('c')], [template('d')]]
  const answer = await sync(w, one.id)
  assert.deepEqual([answer.statusCode, answer.json().data], [502, { code: '80007' }])
  assert.deepEqual(await names(w), ['a', 'b'])
  assert.ok(
    w.lines.some(
      (line) => line.includes('failed to sync templates; retrying at the next sync') && line.includes('80007'),
    ),
  )
  assert.ok(!w.lines.join().includes('an-access-token'))
  for (const [code, reason] of [
    [10, null],
    [190, 'platform_error_190'],
  ] as const) {
    platform.answer = (_, response) => sendJson(response, 400, { error: { code } })
    await sync(w, one.id)
    assert.equal((await w.find(one.id))?.stateReason, reason, 'only a token that is not taken makes it unavailable')
  }
})

test('templates are synced after connecting and every ten minutes, by one node at a time', async () => {
  const w = await channelWorld(platform.baseUrl)
  await w.connect()
  pages = [[template('a')]]
  const rounds = await Promise.all([syncDueTemplates(w.deps), syncDueTemplates(w.deps), syncDueTemplates(w.deps)])
  assert.equal(
    rounds.reduce((sum, count) => sum + count),
    1,
  )
  assert.deepEqual(await names(w), ['a'])
  w.clock.advance(10 * 60_000 - 1)
  assert.equal(await syncDueTemplates(w.deps), 0)
  w.clock.advance(1)
  assert.equal(await syncDueTemplates(w.deps), 1)
})

test('any number of hints schedule one sync, at most once a minute', async () => {
  const w = await channelWorld(platform.baseUrl)
  const one = await w.connect()
  pages = [[]]
  await syncDueTemplates(w.deps)
  w.clock.advance(120_000)
  for (let n = 0; n < 20; n++) await applyPlatformSignal(w.deps, one, { type: 'templates_changed' })
  assert.equal(await syncDueTemplates(w.deps), 0)
  w.clock.advance(5_000)
  assert.equal(await syncDueTemplates(w.deps), 1)
  assert.equal(await syncDueTemplates(w.deps), 0)
  await applyRefusal(w.deps, one, 'templates_stale', '132001')
  w.clock.advance(59_999)
  assert.equal(await syncDueTemplates(w.deps), 0)
  w.clock.advance(1)
  assert.equal(await syncDueTemplates(w.deps), 1)
})

test('a hint during a sync is not lost', async () => {
  const w = await channelWorld(platform.baseUrl)
  const one = await w.connect()
  platform.answer = async (_, response) => {
    await applyPlatformSignal(w.deps, one, { type: 'templates_changed' })
    sendJson(response, 200, { data: [] })
  }
  await syncDueTemplates(w.deps)
  platform.answer = (_, response) => sendJson(response, 200, { data: [template('late')] })
  w.clock.advance(5_000)
  assert.equal(await syncDueTemplates(w.deps), 1)
  assert.deepEqual(await names(w), ['late'])
})

test('another node takes over the sync of a dead node after two minutes', async () => {
  const w = await channelWorld(platform.baseUrl)
  await w.connect()
  const dying = { ...w.deps.adapters.waba, fetchTemplates: () => Promise.reject(new Error('died')) }
  await assert.rejects(syncDueTemplates({ ...w.deps, adapters: { ...w.deps.adapters, waba: dying } }))
  assert.equal(await syncDueTemplates(w.deps), 0)
  w.clock.advance(120_000)
  pages = [[template('a')]]
  assert.equal(await syncDueTemplates(w.deps), 1)
  assert.deepEqual(await names(w), ['a'])
})

const reads = () => platform.requests.filter(({ url }) => url.includes('health_status'))
const statusOf = async (w: ChannelWorld, id: string) => (await w.find(id))?.numberStatus ?? null

/** The platform reports these fields of every number. */
function reportNumber(fields: Listed): void {
  platform.answer = (asked, response) => {
    const isList = asked.url.includes('/message_templates')
    sendJson(response, 200, isList ? { data: [] } : asked.url.includes('health_status') ? fields : { id: '1' })
  }
}

test('the status of a number is read after connecting, once a day, and after a hint; what worsens is notified', async () => {
  const w = await channelWorld(platform.baseUrl)
  await addMember(w)
  const one = await w.connect()
  reportNumber({ quality_rating: 'GREEN', whatsapp_business_manager_messaging_limit: 'TIER_2K' })
  await syncDueTemplates(w.deps)
  const first = await statusOf(w, one.id)
  assert.deepEqual([first?.checkedAt, first?.messagingLimit], [w.clock.now().toISOString(), 2000])
  reportNumber({ quality_rating: 'RED', whatsapp_business_manager_messaging_limit: 'TIER_2K' })
  for (const expected of [1, 2]) {
    w.clock.advance(12 * 3_600_000)
    await syncDueTemplates(w.deps)
    assert.equal(reads().length, expected)
  }
  assert.deepEqual(await reasonsTold(w), ['quality_red'])
  w.clock.advance(60_000)
  await applyPlatformSignal(w.deps, one, { type: 'number_status', facts: { messagingLimit: 250 }, isHint: true })
  assert.deepEqual((await statusOf(w, one.id))?.messagingLimit, 250, 'a hint with a value applies at once')
  reportNumber({ quality_rating: 'RED', messaging_limit_tier: 'TIER_250', name_status: 'DECLINED' })
  w.clock.advance(5_000)
  await syncDueTemplates(w.deps)
  assert.deepEqual(await reasonsTold(w), ['messaging_limit_lowered', 'name_declined', 'quality_red'])
})

test('an API version without the newest field is read without it; a failed read is repeated after an hour', async () => {
  const w = await channelWorld(platform.baseUrl)
  const one = await w.connect()
  const fields: string[] = []
  platform.answer = (asked, response) => {
    if (!asked.url.includes('health_status')) return sendJson(response, 200, { data: [] })
    fields.push(new URL(asked.url, 'http://x').searchParams.get('fields')?.split(',').at(-1) ?? '')
    if (fields.length === 1) return sendJson(response, 400, { error: { code: 100 } })
    sendJson(response, fields.length === 2 ? 200 : 500, { messaging_limit_tier: 'TIER_10K', error: { code: 1 } })
  }
  await syncDueTemplates(w.deps)
  assert.deepEqual(fields, ['whatsapp_business_manager_messaging_limit', 'messaging_limit_tier'])
  await applyPlatformSignal(w.deps, one, { type: 'number_status', facts: {}, isHint: true })
  const readsAfter = async (minutes: number) => {
    w.clock.advance(minutes * 60_000)
    await syncDueTemplates(w.deps)
    return fields.length
  }
  assert.deepEqual([await readsAfter(2), await readsAfter(30), await readsAfter(60)], [3, 3, 4])
  assert.equal((await statusOf(w, one.id))?.messagingLimit, 10_000, 'a failure keeps what is known')
})

test('the status of a former number is neither kept nor stored by a read that began before the change', async () => {
  const w = await channelWorld(platform.baseUrl)
  const one = await w.connect()
  reportNumber({ quality_rating: 'RED' })
  await syncDueTemplates(w.deps)
  const before = await w.find(one.id)
  assert.equal((await w.call('PATCH', `/${one.id}`, { numberId: '4242' })).statusCode, 200)
  assert.ok(before?.numberStatus?.quality === 'red' && (await statusOf(w, one.id)) === null)
  await refreshNumberStatus(w.deps, { ...before, numberStatusDueAt: null })
  assert.equal(await statusOf(w, one.id), null)
})
