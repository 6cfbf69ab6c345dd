import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FormField } from '../../src/forms/form/schema.ts'
import { type FormWorld, formEncoded, formWorld, nameField } from '../support/form-world.ts'
import { pick } from '../support/pick.ts'
import { testTeamToken } from '../support/world.ts'

const definition = { name: 'Contact', title: 'Talk to us', fields: [nameField] }

function call(w: FormWorld, method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path = '', body?: object) {
  const url = `/api/team/v1/workspaces/${w.workspaceId}/forms${path}`
  const headers = { authorization: `Bearer ${testTeamToken}` }
  return w.app.inject({ method, url, headers, ...(body === undefined ? {} : { body }) })
}

test('a form is created, read, listed, changed and deleted; its leads are kept', async () => {
  const w = await formWorld()
  const made = await call(w, 'POST', '', definition)
  assert.equal(made.statusCode, 201)
  const { form } = made.json()
  assert.match(form.slug, /^talk-to-us-[a-z0-9]{6}$/)
  assert.equal(form.url, `http://127.0.0.1:7007/f/${form.slug}`)
  assert.deepEqual(
    [form.source, form.status, form.active, form.submitLabel, form.redirectUrl, form.allowedOrigins],
    ['website', 'new', true, 'Send', null, []],
  )
  assert.equal(form.workspaceId, undefined)
  assert.deepEqual((await call(w, 'GET', `/${form.id}`)).json(), { form })
  assert.deepEqual((await call(w, 'GET')).json(), { forms: [{ ...form, submissionCount: 0, lastSubmissionAt: null }] })

  w.clock.advance(1_000)
  const changed = (await call(w, 'PATCH', `/${form.id}`, { title: 'Hello', description: 'x' })).json().form
  assert.deepEqual([changed.title, changed.description, changed.name], ['Hello', 'x', 'Contact'])
  assert.notEqual(changed.updatedAt, form.updatedAt)
  assert.equal((await call(w, 'PATCH', `/${form.id}`, { description: null })).json().form.description, null)

  await w.post(form.slug, { firstName: 'Ana' })
  assert.equal((await call(w, 'DELETE', `/${form.id}`)).statusCode, 200)
  for (const method of ['GET', 'DELETE', 'PATCH'] as const) {
    assert.equal((await call(w, method, `/${form.id}`, method === 'PATCH' ? {} : undefined)).statusCode, 404)
  }
  assert.equal((await w.leads()).length, 1)
  assert.equal(await w.count('form_submissions'), 0)
  assert.equal(await w.count('audit_log'), 4)
})

test('the embedded form works unchanged on another site', async () => {
  const w = await formWorld()
  const { embedHtml, slug } = (
    await call(w, 'POST', '', { ...definition, allowedOrigins: ['https://shop.example'] })
  ).json().form
  assert.match(embedHtml, new RegExp(`<form method="post" action="http://127.0.0.1:7007/f/${slug}"`))
  assert.match(embedHtml, /name="firstName"/)
  assert.doesNotMatch(embedHtml, /<script|_token/)
  const headers = { ...formEncoded, origin: 'https://shop.example' }
  const body = 'firstName=Ana&homepage='
  assert.equal((await w.post(slug, body, headers)).statusCode, 303)
})

test('submissions are listed newest first, with a cursor that belongs to the form', async () => {
  const w = await formWorld()
  const form = await w.newForm()
  for (const firstName of ['A', 'B', 'C']) {
    await w.post(form.slug, { firstName })
    w.clock.advance(1_000)
  }
  const leadIds = (await w.leads()).map((lead) => lead.id).reverse()
  const first = (await call(w, 'GET', `/${form.id}/submissions?limit=2`)).json()
  const second = (await call(w, 'GET', `/${form.id}/submissions?limit=2&cursor=${first.nextCursor}`)).json()
  assert.deepEqual(pick([...first.submissions, ...second.submissions], 'leadId'), leadIds)
  assert.equal(second.nextCursor, null)
  assert.deepEqual(Object.keys(first.submissions[0]), ['id', 'leadId', 'submittedAt', 'lead', 'answers'])
  assert.deepEqual(first.submissions[0].lead, { name: 'C', status: 'new' })
  const other = await w.newForm()
  for (const cursor of [first.nextCursor, 'x', '!!']) {
    const answer = await call(w, 'GET', `/${other.id}/submissions?cursor=${cursor}`)
    assert.deepEqual([answer.statusCode, answer.json().statusMessage], [400, 'Invalid cursor format'])
  }
})

test('a submission shows its answers as sent, and they are encrypted in the database', async () => {
  const w = await formWorld()
  const size: FormField = {
    key: 'company_size',
    label: 'Company size',
    type: 'select',
    required: false,
    options: ['1', '2'],
  }
  const terms: FormField = { key: 'terms', label: 'I agree', type: 'boolean', required: false }
  const form = await w.newForm({ fields: [nameField, size, terms] })
  const body = { firstName: ' Secretive ', company_size: '2', terms: true }
  await w.post(`${form.slug}?utm_source=news`, body)
  const list = async () => (await call(w, 'GET', `/${form.id}/submissions`)).json().submissions[0]
  assert.deepEqual((await list()).answers, [
    { key: 'firstName', label: nameField.label, value: 'Secretive' },
    { key: 'company_size', label: 'Company size', value: '2' },
    { key: 'terms', label: 'I agree', value: true },
    { key: 'k_utm_source', label: 'k_utm_source', value: 'news' },
  ])
  const [row] = await w.db.sql`select t::text as whole from form_submissions t where form_id = ${form.id}`
  assert.doesNotMatch(String(row?.whole), new RegExp(Buffer.from('Secretive').toString('hex')))
  await w.db.sql`update form_submissions set answers = null where form_id = ${form.id}`
  assert.equal((await list()).answers, null, 'sent before answers were kept')
  await w.db.sql`update leads set deleted_at = ${w.clock.now()} where workspace_id = ${w.workspaceId}`
  assert.deepEqual([(await list()).lead, (await list()).answers], [null, null], 'the lead was deleted')
})

test('the list has the number and last time of submissions, and the days their counts', async () => {
  const w = await formWorld()
  const [form, other] = [await w.newForm(), await w.newForm()]
  const send = (slug: string) => w.post(slug, { firstName: 'Ana' })
  // Half past eleven at night in São Paulo, and half an hour after midnight.
  w.clock.set(new Date('2026-03-02T02:30:00Z'))
  await send(form.slug)
  await send(form.slug)
  w.clock.set(new Date('2026-03-02T03:30:00Z'))
  await send(form.slug)
  const counted = Object.fromEntries(
    (await call(w, 'GET'))
      .json()
      .forms.map((one: Record<string, unknown>) => [one.id, [one.submissionCount, one.lastSubmissionAt]]),
  )
  assert.deepEqual(counted, { [form.id]: [3, '2026-03-02T03:30:00.000Z'], [other.id]: [0, null] })
  const days = async (id: string, query = '') => (await call(w, 'GET', `/${id}/submissions/days${query}`)).json()
  assert.deepEqual(await days(form.id, '?days=3&tz=America/Sao_Paulo'), {
    total: 3,
    days: [
      { date: '2026-02-28', submissions: 0 },
      { date: '2026-03-01', submissions: 2 },
      { date: '2026-03-02', submissions: 1 },
    ],
  })
  assert.deepEqual(await days(form.id, '?days=1'), { total: 3, days: [{ date: '2026-03-02', submissions: 3 }] })
  assert.deepEqual([(await days(other.id)).total, (await days(other.id)).days.length], [0, 30])
  assert.equal((await days(form.id, '?tz=Mars/Olympus')).statusCode, 400)
})

test('a preview shows the public page, and stores nothing', async () => {
  const w = await formWorld()
  const seen = await call(w, 'POST', '/preview', { ...definition, title: 'A <b>visit</b>', thankYou: 'See you' })
  assert.equal(seen.statusCode, 200)
  const { page, thanks } = seen.json()
  assert.match(page, /<h1>A &#60;b&#62;visit&#60;\/b&#62;<\/h1>/)
  assert.match(page, /name="firstName"/)
  assert.match(thanks, /See you/)
  assert.doesNotMatch(page + thanks, /<script/)
  assert.deepEqual((await call(w, 'GET')).json(), { forms: [] })
  assert.equal((await call(w, 'POST', '/preview', { ...definition, fields: [] })).statusCode, 400)
})

const roles: [
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body: object | undefined,
  forMembers: boolean,
][] = [
  ['GET', '', undefined, true],
  ['GET', '/:id', undefined, true],
  ['GET', '/:id/submissions', undefined, true],
  ['GET', '/:id/submissions/days', undefined, true],
  ['POST', '/preview', definition, true],
  ['POST', '', definition, false],
  ['PATCH', '/:id', { title: 'x' }, false],
  ['DELETE', '/:id', undefined, false],
]

test('a form of another workspace is not found', async () => {
  const [w, other] = [await formWorld(), await formWorld()]
  const form = await other.newForm()
  for (const [method, path, body] of roles.filter((role) => role[1].startsWith('/:id'))) {
    assert.equal((await call(w, method, path.replace(':id', form.id), body)).statusCode, 404, `${method} ${path}`)
  }
  assert.deepEqual((await call(w, 'GET')).json(), { forms: [] })
})

test('a former slug leads to its form after a rename, until another form of the workspace uses it', async () => {
  const w = await formWorld()
  const [old, fresh] = [`old-${w.workspaceId}`, `new-${w.workspaceId}`]
  const form = await w.newForm({ slug: old })
  assert.equal((await call(w, 'PATCH', `/${form.id}`, { slug: fresh })).statusCode, 200)
  const send = (slug: string) => w.post(slug, { firstName: 'Ana' })
  for (const slug of [old, fresh]) assert.equal((await send(slug)).statusCode, 201)
  assert.ok((await w.app.inject({ url: `/f/${old}` })).body.includes(`/f/${fresh}`))
  const other = await w.newForm({ slug: old, thankYou: 'Other' })
  assert.equal((await send(old)).json().message, 'Other')
  assert.equal((await call(w, 'PATCH', `/${form.id}`, { slug: old })).statusCode, 409)
  await call(w, 'DELETE', `/${other.id}`)
  assert.equal((await send(old)).statusCode, 404)
  assert.equal((await call(w, 'PATCH', `/${form.id}`, { slug: old })).statusCode, 200)
  assert.equal((await send(old)).statusCode, 201)
})

test('no other workspace can use a current or former slug', async () => {
  const [w, other] = [await formWorld(), await formWorld()]
  const slugs = ['taken', 'renamed', 'deleted'].map((name) => `${name}-${w.workspaceId}`)
  const [taken = '', renamed = '', deleted = ''] = slugs
  await w.newForm({ slug: taken })
  await call(w, 'PATCH', `/${(await w.newForm({ slug: renamed })).id}`, { slug: `now-${w.workspaceId}` })
  await call(w, 'DELETE', `/${(await w.newForm({ slug: deleted })).id}`)
  const theirs = await other.newForm()
  for (const slug of slugs) {
    for (const answer of [
      await call(other, 'POST', '', { ...definition, slug }),
      await call(other, 'PATCH', `/${theirs.id}`, { slug }),
    ]) {
      assert.deepEqual([answer.statusCode, answer.json().data], [409, { field: 'slug' }], slug)
    }
    const own = await call(w, 'POST', '', { ...definition, slug })
    assert.equal(own.statusCode, slug === taken ? 409 : 201, slug)
  }
})

test('forms of a workspace have at most 1,000 slugs over time', async () => {
  const w = await formWorld()
  const form = await w.newForm()
  await w.db.sql`
    insert into form_slugs (workspace_id, slug, form_id)
    select ${w.workspaceId}, 'had-' || n || left(${w.workspaceId}, 18), ${form.id}
    from generate_series(1, 999) as n`
  const refused = await call(w, 'PATCH', `/${form.id}`, { slug: `one-${w.workspaceId}` })
  assert.deepEqual([refused.statusCode, refused.json().data], [409, { field: 'slug' }])
  assert.equal((await call(w, 'PATCH', `/${form.id}`, { slug: `had-7${w.workspaceId.slice(0, 18)}` })).statusCode, 200)
})

const bad: [what: string, body: object, path: string][] = [
  ['a slug with capitals', { slug: 'Abc' }, 'slug'],
  ['a short slug', { slug: 'ab' }, 'slug'],
  ['an unknown type', { fields: [{ ...nameField, type: 'colour' }] }, 'fields[0].type'],
  ['an unknown part of a field', { fields: [{ ...nameField, colour: 'red' }] }, 'fields[0].colour'],
  ['an unknown part of a form', { colour: 'red' }, 'colour'],
  ['an unknown source', { source: 'moon' }, 'source'],
  ['a status with capitals', { status: 'New' }, 'status'],
  ['an origin with a path', { allowedOrigins: ['https://example.com/x'] }, 'allowedOrigins[0]'],
  ['a blank title', { title: ' ' }, 'title'],
]

test('invalid definitions are 400 on create and change, naming the field', async () => {
  const w = await formWorld()
  const form = await w.newForm()
  for (const [what, body, path] of bad) {
    for (const answer of [
      await call(w, 'POST', '', { ...definition, ...body }),
      await call(w, 'PATCH', `/${form.id}`, body),
    ]) {
      assert.deepEqual([answer.statusCode, answer.json().data.issues[0].path], [400, path], what)
    }
  }
})
