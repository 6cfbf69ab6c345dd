import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leadPath, leadsPath, stored } from '../../support/leads/leads.ts'
import { type CallOptions, type World, world } from '../../support/world.ts'

type Method = 'POST' | 'PATCH'

interface Writer {
  name: string
  method: Method
  path: string
  /** The body around a lead's fields, and where they stand in it. */
  wrap: (lead: string) => string
  at: string
}

const matched = '"match":{"by":"externalRef","value":"r"}'
const writers: Writer[] = [
  { name: 'create', method: 'POST', path: leadsPath, wrap: (lead) => lead, at: '' },
  { name: 'update', method: 'PATCH', path: leadPath('r'), wrap: (lead) => lead, at: '' },
  {
    name: 'upsert',
    method: 'POST',
    path: `${leadsPath}/upsert`,
    wrap: (lead) => `{${matched},"lead":${lead}}`,
    at: 'lead.',
  },
]
const bulk: Writer = {
  name: 'bulk upsert',
  method: 'POST',
  path: `${leadsPath}/bulk-upsert`,
  wrap: (lead) => `{"items":[{${matched},"lead":${lead}}]}`,
  at: 'items[0].lead.',
}

async function withLead(): Promise<World> {
  const w = await world()
  await w.lead({ externalRef: 'r', phone: '5581991234567' })
  return w
}

/** Sends it, and checks that the answer is this error in the shape of every error, and that nothing was stored. */
async function assertRefused(w: World, { method, path }: Writer, options: CallOptions, status: number, hint: string) {
  const before = await stored(w)
  const answer = await w.call(method, path, options)
  assert.equal(answer.status, status, hint)
  const { statusCode, statusMessage, data, ...rest } = answer.body
  assert.equal(statusCode, status, hint)
  assert.equal(typeof statusMessage, 'string', hint)
  assert.deepEqual(rest, {}, hint)
  assert.deepEqual(await stored(w), before, hint)
  return { statusMessage, issues: data?.issues, headers: answer.headers }
}

/** Texts of a lead that mean nothing good, and the field that the answer names. */
const leadTexts: [lead: string, field: string][] = [
  ['{"firstName":5}', 'firstName'],
  ['{"firstName":null}', 'firstName'],
  ['{"firstName":["A"]}', 'firstName'],
  ['{"firstName":{"a":1}}', 'firstName'],
  ['{"firstName":"A","lastName":true}', 'lastName'],
  ['{"firstName":"A","email":0}', 'email'],
  ['{"firstName":"A","phone":5581991234567}', 'phone'],
  ['{"firstName":"A","notes":[]}', 'notes'],
  ['{"firstName":"A","status":1}', 'status'],
  ['{"firstName":"A","estimatedValue":"1"}', 'estimatedValue'],
  ['{"firstName":"A","estimatedValue":1e999}', 'estimatedValue'],
  ['{"firstName":"A","estimatedValue":-1e999}', 'estimatedValue'],
  ['{"firstName":"A","estimatedValue":1e12}', 'estimatedValue'],
  ['{"firstName":"A","actualValue":9007199254740993}', 'actualValue'],
  ['{"firstName":"A","value":0.005}', 'value'],
  ['{"firstName":"A","value":false}', 'value'],
  ['{"firstName":"A","assignedTo":1}', 'assignedTo'],
  ['{"firstName":"A","assignedTo":"00000000-0000-0000-0000-00000000000g"}', 'assignedTo'],
  ['{"firstName":"A","customFieldValues":"x"}', 'customFieldValues'],
  ['{"firstName":"A","customFieldValues":null}', 'customFieldValues'],
  ['{"firstName":"A","customFieldValues":{"a":1}}', 'customFieldValues.a'],
  ['{"firstName":"A","customFieldValues":{"a":{"b":{}}}}', 'customFieldValues.a'],
  ['{"firstName":"A","unknown":1}', 'unknown'],
  ['{"firstName":"A","tenant_id":"x"}', 'tenant_id'],
  ['{"firstName":"A","constructor":{}}', 'constructor'],
  ['{"firstName":"A","__proto__":{"status":"won"}}', '__proto__'],
  ['{"firstName":"A\\u0000"}', 'firstName'],
  ['{"firstName":"A","notes":"a\\u0000b"}', 'notes'],
  ['{"firstName":"A","customFieldValues":{"a":"\\u0000"}}', 'customFieldValues.a'],
  ['{"firstName":"\\ud800"}', 'firstName'],
  ['{"firstName":"A","notes":"\\udc00\\ud800"}', 'notes'],
  ['{"firstName":"A","firstName":"B"}', 'firstName'],
  ['{"firstName":"A","customFieldValues":{"a":"1","a":"2"}}', 'customFieldValues.a'],
]

for (const writer of [...writers, bulk]) {
  const { name, wrap, at } = writer

  test(`${name}: what cannot be stored as it was sent is a 4xx naming the field, and nothing is stored`, async () => {
    const w = await withLead()
    for (const [lead, field] of leadTexts) {
      const isText = /\\u0000|\\u[d]|e999|9007199|__proto__|"firstName":"B"|"a":"2"/.test(lead)
      // An item whose values do not fit fails alone; a text that is no good JSON fails as a whole.
      if (writer === bulk && !isText) {
        const before = await stored(w)
        const { status, body } = await w.call('POST', writer.path, { raw: wrap(lead) })
        assert.equal(status, 200, lead)
        assert.equal(body.results[0].error.statusCode, 400, lead)
        assert.equal(body.results[0].error.data.issues[0].path, at + field, lead)
        assert.deepEqual(await stored(w), before)
        continue
      }
      const { statusMessage, issues } = await assertRefused(w, writer, { raw: wrap(lead) }, 400, lead)
      assert.equal(statusMessage, 'Validation failed')
      assert.equal(issues[0].path, at + field, lead)
    }
  })

  test(`${name}: a body that is no JSON object is a 400 that says so`, async () => {
    const w = await withLead()
    const bodies = [
      '[]',
      'null',
      '"text"',
      '5',
      'true',
      '',
      ' ',
      '{',
      '{"firstName":}',
      "{'firstName':'A'}",
      '{"firstName":"A"}}',
      'NaN',
      '\uFEFF',
      '{"a":1,}',
      '[[]]',
    ]
    for (const raw of bodies) {
      const { statusMessage, issues } = await assertRefused(
        w,
        writer,
        { raw, headers: { 'content-type': 'application/json' } },
        400,
        raw,
      )
      assert.equal(statusMessage, 'Validation failed', raw)
      assert.ok(issues.length > 0, raw)
    }
    const invalidUtf8 = Buffer.concat([Buffer.from('{"firstName":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')])
    await assertRefused(w, writer, { raw: invalidUtf8 }, 400, 'invalid UTF-8')
  })

  test(`${name}: deep, wide and long bodies are refused`, async () => {
    const w = await withLead()
    const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`
    await assertRefused(w, writer, { raw: wrap(`{"firstName":"A","notes":${deep}}`) }, 400, 'deep arrays')
    const objects = `${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}`
    await assertRefused(
      w,
      writer,
      { raw: wrap(`{"firstName":"A","customFieldValues":${objects}}`) },
      400,
      'deep objects',
    )
    const many = (value: string) => Array.from({ length: 5_000 }, (_, n) => `"K${n}":${value}`).join()
    for (const lead of [`{"firstName":"A",${many('1')}}`, `{"firstName":"A","customFieldValues":{${many('"x"')}}}`]) {
      const raw = wrap(lead)
      const issues =
        writer === bulk
          ? (await w.call('POST', bulk.path, { raw })).body.results[0].error.data.issues
          : (await assertRefused(w, writer, { raw }, 400, 'wide')).issues
      assert.equal(issues.length, 20)
    }
  })

  test(`${name}: a body over 1 MiB is a 413, one of 1 MiB is read`, async () => {
    const w = await withLead()
    const frame = wrap('{"firstName":"A","notes":""}').length
    const text = (bytes: number) => wrap(`{"firstName":"A","notes":"${'x'.repeat(bytes - frame)}"}`)
    const { statusMessage } = await assertRefused(w, writer, { raw: text(1024 * 1024 + 1) }, 413, 'too large')
    assert.equal(statusMessage, 'Body is larger than 1 MiB')
    const { status } = await w.call(writer.method, writer.path, { raw: text(1024 * 1024) })
    assert.equal(status, writer === bulk ? 200 : 400)
  })

  test(`${name}: another content type is a 415`, async () => {
    const w = await withLead()
    const raw = wrap('{"firstName":"A"}')
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/json',
      'application/xml',
      'application/jsonx',
      'application/json; charset=latin1',
    ]
    for (const type of types) {
      const options = { raw, headers: { 'content-type': type } }
      const { statusMessage } = await assertRefused(w, writer, options, 415, type)
      assert.match(statusMessage, /^Send the body as /)
    }
    const gzip = { raw, headers: { 'content-encoding': 'gzip' } }
    await assertRefused(w, writer, gzip, 415, 'gzip')
  })
}

test('upsert: a bad envelope is a 400 that names what is wrong', async () => {
  const w = await withLead()
  const writer = writers[2]
  assert.ok(writer)
  const match = { by: 'externalRef', value: 'r' }
  const rows: [body: unknown, path: string][] = [
    [{ lead: {} }, 'match'],
    [{ match }, 'lead'],
    [{ match: null, lead: {} }, 'match'],
    [{ match: [], lead: {} }, 'match'],
    [{ match: { value: 'r' }, lead: {} }, 'match.by'],
    [{ match: { by: 'externalRef' }, lead: {} }, 'match.value'],
    [{ match: { by: 'email', value: 'a@b.co' }, lead: {} }, 'match.by'],
    [{ match: { by: 'externalRef', value: 5 }, lead: {} }, 'match.value'],
    [{ match: { by: 'externalRef', value: '' }, lead: {} }, 'match.value'],
    [{ match: { by: 'externalRef', value: null }, lead: {} }, 'match.value'],
    [{ match: { by: 'externalRef', value: 'x'.repeat(256) }, lead: {} }, 'match.value'],
    [{ match: { ...match, and: 1 }, lead: {} }, 'match.and'],
    [{ match, lead: null }, 'lead'],
    [{ match, lead: [] }, 'lead'],
    [{ match, lead: {}, createIfMissing: 'false' }, 'createIfMissing'],
    [{ match, lead: {}, createIfMissing: null }, 'createIfMissing'],
    [{ match, lead: {}, dryRun: true }, 'dryRun'],
  ]
  for (const [body, path] of rows) {
    const { issues } = await assertRefused(w, writer, { body }, 400, JSON.stringify(body))
    assert.equal(issues[0].path, path, JSON.stringify(body))
  }
})

for (const path of [`${leadsPath}/upsert`, `${leadsPath}/bulk-upsert`]) {
  test(`${path}: dryRun is true or false, and there is no other parameter`, async () => {
    const w = await withLead()
    const body = { match: { by: 'externalRef', value: 'r' }, lead: { notes: 'x' } }
    const sent = path.endsWith('bulk-upsert') ? { items: [body] } : body
    const writer = { name: path, method: 'POST', path, wrap: (lead: string) => lead, at: '' } as const
    for (const query of [
      { dryRun: 'yes' },
      { dryRun: '' },
      { dryRun: '1' },
      { dryrun: 'true' },
      { limit: '5' },
    ] as Record<string, string>[]) {
      const { issues } = await assertRefused(w, writer, { body: sent, query }, 400, JSON.stringify(query))
      assert.equal(issues[0].path, Object.keys(query)[0])
    }
  })
}

test('a wrong method is a 405 with Allow, an unknown route a 404, in the shape of every error', async () => {
  const w = await withLead()
  const rows: [method: 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT', path: string, allow: string][] = [
    ['PUT', leadsPath, 'GET, POST'],
    ['PATCH', leadsPath, 'GET, POST'],
    ['DELETE', leadsPath, 'GET, POST'],
    ['PUT', leadPath('r'), 'DELETE, GET, PATCH'],
    ['POST', leadPath('r'), 'DELETE, GET, PATCH'],
    ['GET', `${leadPath('r')}/restore`, 'POST'],
    ['DELETE', `${leadPath('r')}/restore`, 'POST'],
  ]
  const before = await stored(w)
  for (const [method, path, allow] of rows) {
    const { status, body, headers } = await w.call(method, path)
    assert.equal(status, 405, `${method} ${path}`)
    assert.equal(headers.allow, allow)
    assert.deepEqual(body, { statusCode: 405, statusMessage: `Use ${allow.replaceAll(', ', ' or ')} here` })
  }
  for (const path of [
    '/api/v1/lead',
    '/api/v3/leads',
    `${leadsPath}/`,
    `${leadPath('r')}/`,
    `${leadPath('r')}/notes`,
  ]) {
    const { status, body } = await w.call('GET', path)
    assert.equal(status, 404, path)
    assert.deepEqual(body, { statusCode: 404, statusMessage: 'Route not found' })
  }
  assert.deepEqual(await stored(w), before)
})

test('GET, DELETE and restore pass over a body, whatever it is', async () => {
  const w = await withLead()
  const { id } = (await w.call('GET', leadPath('r'))).body.data
  const options = { raw: '{"any": "thing"}' }
  assert.equal((await w.call('GET', leadPath('r'), options)).status, 200)
  assert.equal((await w.call('DELETE', leadPath('r'), options)).status, 200)
  assert.equal((await w.call('POST', `${leadPath(id)}/restore`, options)).status, 200)
})
