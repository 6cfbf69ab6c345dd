import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signedInMember } from '../../support/member.ts'
import { exampleUrl, hooksPath, webhookApi } from '../../support/webhooks/webhook-world.ts'

test('an admin creates an endpoint, and its secret is shown once', async () => {
  const w = await webhookApi()
  const made = await w.endpoint({ headers: { Authorization: 'Bearer hidden-value' }, description: 'Warehouse' })
  assert.match(made.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.equal(made.url, exampleUrl)
  assert.deepEqual([made.state, made.stateReason, made.phoneVisibility], ['active', null, 'full'])
  assert.deepEqual(made.headerNames, ['Authorization'])
  assert.deepEqual(made.secrets, { valid: 1, oldUntil: null })

  const { secret, ...endpoint } = made
  assert.deepEqual(await w.ok('GET', `/${made.id}`), { endpoint })
  const list = await w.ok('GET', '')
  assert.deepEqual(list, { endpoints: [endpoint] })
  assert.ok(!JSON.stringify(list).includes(secret))
  assert.ok(!JSON.stringify(list).includes('hidden-value'))
})

test('URL, headers and secrets are encrypted in the database, and in no log or audit entry', async () => {
  const w = await webhookApi()
  const { id, secret } = await w.endpoint({ headers: { 'X-Key': 'hidden-value' } })
  await w.ok('PATCH', `/${id}`, { url: 'https://other.example.com/path', headers: { 'X-Key': 'hidden-value' } })
  const [row] = await w.db.sql`select e::text as text from webhook_endpoints e where id = ${id}`
  const audit = await w.db.sql`select a::text as text from audit_log a where scope_id = ${w.workspaceId}`
  const seen = [row?.text, ...audit.map(({ text }) => text), ...w.logLines].join('\n')
  for (const hidden of ['hooks.example.com', 'other.example.com', 'hidden-value', secret]) {
    assert.ok(!seen.includes(hidden), hidden)
  }
  assert.ok(seen.includes('webhook.created') && seen.includes('webhook.address-changed'))
})

test('a URL on another server requires the headers again', async () => {
  const w = await webhookApi()
  const { id } = await w.endpoint({ headers: { Authorization: 'Bearer hidden-value' } })
  const other = 'https://elsewhere.example.com/hook'
  const patch = (body: object) => w.admin.call('PATCH', `${hooksPath}/${id}`, body)
  const refused = await patch({ url: other })
  assert.deepEqual([refused.status, refused.body.data.issues[0].path], [400, 'headers'])
  assert.equal((await w.ok('GET', `/${id}`)).endpoint.url, exampleUrl)
  assert.equal((await patch({ url: `${exampleUrl}/other`, events: ['lead.*'] })).status, 200)
  assert.equal((await patch({ url: other, headers: {} })).status, 200)
  assert.equal((await patch({ url: exampleUrl })).status, 200)
})

test('a member sees only the host of endpoints, and cannot change them', async () => {
  const w = await webhookApi()
  const { id } = await w.endpoint()
  const member = await signedInMember(w, 'member')
  const [seen] = (await member.call('GET', hooksPath)).body.endpoints
  assert.equal(seen.url, 'https://hooks.example.com/…')
  const one = `${hooksPath}/${id}`
  const event = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
  const denied: ['GET' | 'POST' | 'PATCH' | 'DELETE', string, object?][] = [
    ['POST', hooksPath, { url: exampleUrl, events: ['lead.*'] }],
    ['PATCH', one, {}],
    ['DELETE', one],
    ['POST', `${one}/rotate-secret`, {}],
    ['POST', `${one}/disable`],
    ['POST', `${one}/enable`, {}],
    ['POST', `${one}/test`, { event: 'lead.created' }],
    ['GET', `${one}/deliveries/${event}`],
    ['POST', `${one}/deliveries/${event}/resend`],
    ['POST', `${one}/replays`, { from: '2026-03-10T11:00:00.000Z', scope: 'all' }],
  ]
  for (const [method, path, body] of denied) {
    assert.equal((await member.call(method, path, body)).status, 403, `${method} ${path}`)
  }
  for (const path of [one, `${one}/deliveries`, `${one}/replays`, `${one}/stats`, '/webhook-events']) {
    assert.equal((await member.call('GET', path)).status, 200, path)
  }
})

test('a PATCH changes the given fields, and replaces headers as a whole', async () => {
  const w = await webhookApi()
  const { id } = await w.endpoint({ headers: { 'X-One': '1', 'X-Two': '2' } })
  w.clock.advance(1000)
  const { endpoint } = await w.ok('PATCH', `/${id}`, {
    headers: { 'X-Three': '3' },
    events: ['inbox.*', 'lead.created'],
    phoneVisibility: 'masked',
    description: 'Shop',
  })
  assert.deepEqual(endpoint.headerNames, ['X-Three'])
  assert.deepEqual(endpoint.events, ['inbox.*', 'lead.created'])
  assert.deepEqual([endpoint.phoneVisibility, endpoint.description, endpoint.url], ['masked', 'Shop', exampleUrl])
  assert.ok(endpoint.updatedAt > endpoint.createdAt)
  assert.equal((await w.ok('PATCH', `/${id}`, { description: null })).endpoint.description, null)
})

test('invalid values are rejected with the name of their field', async () => {
  const w = await webhookApi()
  const { id } = await w.endpoint()
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`x-${n}`, 'v']))
  const refused: [Record<string, unknown>, string][] = [
    [{ url: 'ftp://example.com' }, 'url'],
    [{ url: 'http://10.0.0.1/' }, 'url'],
    [{ url: 'nothing' }, 'url'],
    [{ url: `https://example.com/${'a'.repeat(2000)}` }, 'url'],
    [{ events: [] }, 'events'],
    [{ events: ['*'] }, 'events[0]'],
    [{ events: ['lead.moved'] }, 'events[0]'],
    [{ events: ['lead.*', 'lead.*'] }, 'events'],
    [{ phoneVisibility: 'none' }, 'phoneVisibility'],
    [{ description: 'x'.repeat(201) }, 'description'],
    [{ headers: many }, 'headers'],
    [{ headers: { Host: 'x' } }, 'headers.Host'],
    [{ headers: { 'webhook-id': 'x' } }, 'headers.webhook-id'],
    [{ headers: { 'a b': 'x' } }, 'headers.a b'],
    [{ headers: { 'X-A': '1', 'x-a': '2' } }, 'headers.x-a'],
    [{ headers: { 'X-A': 'line\nbreak' } }, 'headers.X-A'],
    [{ headers: { 'X-A': 'é' } }, 'headers.X-A'],
    [{ headers: { 'X-A': '' } }, 'headers.X-A'],
    [{ headers: { 'X-A': 'v'.repeat(1001) } }, 'headers.X-A'],
    [{ headers: { ['n'.repeat(101)]: 'v' } }, `headers.${'n'.repeat(100)}`],
    [{ unknown: 1 }, 'unknown'],
  ]
  for (const [fields, path] of refused) {
    const posted = await w.admin.call('POST', hooksPath, { url: exampleUrl, events: ['lead.*'], ...fields })
    const patched = await w.admin.call('PATCH', `${hooksPath}/${id}`, fields)
    for (const { status, body } of [posted, patched]) {
      assert.equal(status, 400, JSON.stringify(fields))
      assert.ok(
        body.data.issues.some((issue: { path: string }) => issue.path === path),
        `${path}: ${JSON.stringify(body.data.issues)}`,
      )
    }
  }
})

test('a workspace can have at most 100 endpoints, also with concurrent creations', async () => {
  const w = await webhookApi()
  const { id } = await w.endpoint()
  await w.db.sql`
    insert into webhook_endpoints (
      workspace_id, id, events, phone_visibility, settings, state, state_changed_at, created_at, updated_at
    )
    select workspace_id, gen_random_uuid(), events, phone_visibility, settings, state, state_changed_at, created_at,
      updated_at
    from webhook_endpoints, generate_series(1, 97)
    where workspace_id = ${w.workspaceId}`
  const body = { url: exampleUrl, events: ['lead.*'] }
  const answers = await Promise.all(Array.from({ length: 5 }, () => w.admin.call('POST', hooksPath, body)))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, 409, 409, 409])
  await w.ok('DELETE', `/${id}`)
  await w.endpoint()
})

test('a deleted endpoint loses its URL, headers and secrets', async () => {
  const w = await webhookApi()
  const { id } = await w.endpoint()
  await w.ok('DELETE', `/${id}`)
  assert.deepEqual((await w.ok('GET', '')).endpoints, [])
  for (const method of ['GET', 'DELETE'] as const) {
    assert.equal((await w.admin.call(method, `${hooksPath}/${id}`)).status, 404)
  }
  const [row] = await w.db.sql<{ settings: Buffer; state: string }[]>`
    select settings, state from webhook_endpoints where id = ${id}`
  const keyring = await w.keyStore.keyring(w.workspaceId)
  const place = { table: 'webhook_endpoints', row: id, column: 'settings' }
  assert.equal(row?.state, 'disabled')
  assert.deepEqual(JSON.parse(keyring.decryptText(place, row?.settings ?? Buffer.alloc(0))), {
    url: '',
    headers: {},
    secrets: [],
  })
})

test('an endpoint shows the number of pending events and the time of the oldest', async () => {
  const w = await webhookApi()
  await w.lead()
  const { id } = await w.endpoint()
  await w.endpoint({ events: ['inbox.*'] })
  const first = w.clock.now().toISOString()
  await w.lead()
  w.clock.advance(60_000)
  await w.lead()
  await w.sequencer.sequence(w.workspaceId)
  const [inbox, leads] = (await w.ok('GET', '')).endpoints
  assert.deepEqual([leads.id, leads.health.waiting, leads.health.oldestWaitingAt], [id, 2, first])
  assert.deepEqual([inbox.health.waiting, inbox.health.oldestWaitingAt], [0, null])
})
