import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startReceiver } from '../../server/test/support/webhooks/webhook-receiver.ts'
import { issuesInEachLook, openDemo, phone, picture } from './support/demo.ts'

const demo = await openDemo()
const receiver = await startReceiver()
const asKey = { authorization: `Bearer ${demo.apiKey}` }
const place = `/workspaces/${demo.workspaceId}`

/** The lines of the file that the browser is given. */
async function fileFrom(page: Page, ask: () => Promise<void>): Promise<string[]> {
  const [download] = await Promise.all([page.waitForEvent('download'), ask()])
  return (await readFile(await download.path(), 'utf8')).replace('\uFEFF', '').trimEnd().split('\r\n')
}

test('the home page stands beside the time before, by who answered and where, and gives files of it', async () => {
  const made = await demo.call('POST', '/api/v1/leads', { firstName: 'Rosa' }, asKey)
  assert.equal(made.status, 201)
  await answerSomebody()
  const { page, problems } = await demo.open('home')
  const groups = page.getByRole('region', { name: 'First answers' })
  await groups.scrollIntoViewIfNeeded()
  await groups.getByText('The last 30 days beside the 30 days before.').waitFor()
  await groups.getByRole('row', { name: /program of the installation 1 0/ }).waitFor()
  await groups.getByRole('radiogroup', { name: 'Group by' }).getByText('Connection').click()
  await groups.getByRole('table', { name: 'First answers: Connection' }).getByRole('row').nth(1).waitFor()
  await page
    .getByText(/the 30 days before/)
    .first()
    .waitFor()
  await picture(page, 'home-groups')
  await page.getByRole('button', { name: 'CSV' }).click()
  const days = await fileFrom(page, () => page.getByRole('menuitem', { name: 'By day' }).click())
  assert.equal(days.length, 31)
  assert.match(days[0] ?? '', /^"Date","Leads","People: Answers"/)
  assert.match(days.at(-1) ?? '', /^"\d{4}-\d\d-\d\d","[1-9]/)
  await page.getByRole('button', { name: 'CSV' }).click()
  const answered = await fileFrom(page, () => page.getByRole('menuitem', { name: /By person/ }).click())
  assert.match(answered[0] ?? '', /^"Group","Name","Answers"/)
  assert.match(answered[1] ?? '', /^"Person","A former member or a program of the installation","1"/)
  assert.deepEqual(await issuesInEachLook(page, 'home-groups'), [])
  assert.deepEqual(problems, [])
})

/** A customer writes, and the team answers. */
async function answerSomebody(): Promise<void> {
  const phones = `${demo.simulatorUrl}/simulator/customers`
  const { body: customer } = await demo.call('POST', phones, { name: 'Caio Reis', phone: '5511977650000' })
  await demo.call('POST', `${phones}/${customer.id}/messages`, { text: 'Hello' })
  const inbox = `${place}/inbox/conversations`
  let id: string | undefined
  for (const endMs = Date.now() + 20_000; id === undefined; ) {
    id = (await demo.team('GET', `${inbox}?phone=5511977650000`)).conversations[0]?.id
    assert.ok(Date.now() < endMs, 'the message has not come')
  }
  await demo.team('POST', `${inbox}/${id}/take-over`, {})
  const message = { kind: 'text', text: 'We are on it.' }
  const sent = await demo.team('POST', `${inbox}/${id}/messages`, message, { 'idempotency-key': 'pages-1' })
  assert.equal(sent.status, 'sent')
}

test('customers who wait open longest first', async () => {
  const phones = `${demo.simulatorUrl}/simulator/customers`
  const { body: customer } = await demo.call('POST', phones, { name: 'Rosa Prado', phone: '5511977654321' })
  await demo.call('POST', `${phones}/${customer.id}/messages`, { text: 'Do you open today?' })
  const { page } = await demo.open('home')
  const stats = /\/stats\?/
  // As if the quarter of an hour had passed.
  await page.route(stats, async (route) => {
    const answer = await route.fetch()
    const attention = {
      code: 'customers_waiting',
      id: null,
      name: null,
      at: new Date().toISOString(),
      count: 1,
      reason: null,
    }
    await route.fulfill({ response: answer, json: { ...(await answer.json()), attention: [attention] } })
  })
  await page.reload()
  await page.getByRole('link', { name: 'One customer is waiting' }).click()
  await page.waitForURL(/inbox\?.*sort=waiting/)
  await page.waitForURL(/unanswered=true/)
  await page.getByText('Rosa Prado').first().waitFor()
})

test('a key is renamed and re-scoped, and shows what it called last', async () => {
  const { page, problems } = await demo.open('keys')
  const { key, value } = await demo.team('POST', `${place}/keys`, { name: 'Sync', scopes: ['leads.read'] })
  const call = (path: string) => demo.call('GET', path, undefined, { authorization: `Bearer ${value}` })
  assert.equal((await call('/api/v1/leads?search=private')).status, 200)
  assert.equal((await call('/api/v1/inbox/conversations')).status, 401)
  await page.reload()
  await page.getByRole('button', { name: 'Sync' }).click()
  const panel = page.getByRole('dialog')
  await panel.getByRole('row', { name: /GET \/api\/v1\/inbox\/conversations 401/ }).waitFor()
  await panel.getByRole('row', { name: /GET \/api\/v1\/leads 200/ }).waitFor()
  assert.equal(await panel.getByText('private').count(), 0)
  await picture(page, 'keys-calls')
  assert.deepEqual(await issuesInEachLook(page, 'keys-calls'), [])

  await panel.getByRole('button', { name: 'Edit' }).click()
  const edit = page.getByRole('dialog', { name: 'Edit Sync' })
  await edit.getByLabel('Name').fill(' ')
  await edit.getByRole('button', { name: 'Save' }).click()
  await edit.getByLabel('Name').and(page.locator('[aria-invalid="true"]')).waitFor()
  await edit.getByLabel('Name').fill('Sync with the shop')
  await edit.getByRole('checkbox', { name: /Read conversations/ }).check()
  await picture(page, 'keys-edit')
  assert.deepEqual(await issuesInEachLook(page, 'keys-edit'), [])
  await edit.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('dialog', { name: 'Sync with the shop' }).waitFor()
  assert.equal((await call('/api/v1/inbox/conversations')).status, 200)
  const { key: changed } = await demo.team('GET', `${place}/keys/${key.id}`)
  assert.deepEqual([changed.name, changed.scopes], ['Sync with the shop', ['leads.read', 'inbox.read']])
  assert.deepEqual(problems, [])
})

test('the audit log is told in words, searched, and given as a file', async () => {
  await demo.team('POST', `${place}/labels`, { name: 'Urgent', color: 'red' })
  const { page, problems } = await demo.open('settings/audit')
  const filters = page.getByRole('search', { name: 'Filters' })
  await page.getByRole('row', { name: /created a label Urgent/ }).waitFor()
  await filters.getByRole('combobox', { name: 'What' }).click()
  await page.getByRole('option', { name: 'Labels' }).click()
  await page
    .getByRole('row', { name: /API key/ })
    .first()
    .waitFor({ state: 'detached' })
  await page.getByRole('row', { name: /created a label Urgent/ }).waitFor()
  await picture(page, 'audit-filtered')
  const lines = await fileFrom(page, () => page.getByRole('button', { name: 'CSV' }).click())
  assert.equal(lines[0], '"When","Who","What","About","Action","Target"')
  assert.ok(lines.slice(1).every((line) => line.includes('"label.')))
  await filters.getByLabel('Until').fill('2020-01-01')
  await page.getByText('Nothing matches the filter.').waitFor()
  await filters.getByLabel('Until').fill('')
  await filters.getByRole('combobox', { name: 'Who' }).fill('itself')
  await page.getByRole('option', { name: 'Parley itself' }).click()
  await page.getByText('Nothing matches the filter.').waitFor()
  assert.deepEqual(await issuesInEachLook(page, 'audit'), [])
  assert.deepEqual(problems, [])
})

test('the link of an invitation is copied again', async () => {
  const { url } = await demo.team('POST', `${place}/invitations`, { email: 'again@example.com', role: 'member' })
  const { page, problems } = await demo.open('settings/members')
  await page.getByRole('button', { name: 'Copy link of the invitation for again@example.com' }).click()
  const panel = page.getByRole('dialog', { name: 'The invitation for again@example.com' })
  assert.equal(await panel.getByRole('textbox', { name: 'Invitation link' }).inputValue(), url)
  await picture(page, 'invitation-again')
  assert.deepEqual(problems, [])
})

test('who is away says so in one place, and colleagues see it among the members', async () => {
  const { page, problems } = await demo.open('settings/members')
  await page.getByRole('button', { name: /^You: / }).click()
  await page.getByRole('menuitem', { name: 'I am away' }).click()
  await page.getByRole('row', { name: /You Away/ }).waitFor()
  await picture(page, 'member-away')
  assert.deepEqual(await issuesInEachLook(page, 'member-away'), [])
  await page.getByRole('button', { name: /^You: / }).click()
  await page.getByRole('menuitem', { name: 'I am here again' }).click()
  await page.getByRole('row', { name: /You Away/ }).waitFor({ state: 'detached' })
  assert.deepEqual(problems, [])
})

test('deliveries show seconds, and are found by lead and by answer', async () => {
  receiver.answer(() => ({ status: 200, body: 'yes' }))
  const webhook = { url: receiver.url, events: ['lead.*'], description: 'Warehouse' }
  const { endpoint } = await demo.team('POST', `${place}/webhooks`, webhook)
  const { body: lead } = await demo.call('POST', '/api/v1/leads', { firstName: 'Bento' }, asKey)
  await receiver.reached(1)
  const { page, problems } = await demo.open(`webhooks/${endpoint.id}`)
  const list = page.getByRole('list', { name: 'Deliveries' })
  await list.getByRole('button', { name: /Lead created.*\d:\d\d:\d\d.*Response 200/ }).waitFor()
  const find = page.getByRole('searchbox', { name: 'Search deliveries' })
  const search = async (typed: string) => {
    await find.fill(typed)
    await find.press('Enter')
  }
  await search('lead')
  await page.getByText(/Type a whole id/).waitFor()
  await search('5xx')
  await page.getByText('None matches the filter.').waitFor()
  await search('2xx')
  await list.getByRole('button').first().waitFor()
  await search(lead.data.id)
  await page.waitForURL(new RegExp(`find=${lead.data.id}`))
  await list.getByRole('button', { name: /Lead created/ }).waitFor()
  await picture(page, 'deliveries-found')
  assert.deepEqual(await issuesInEachLook(page, 'deliveries-found'), [])
  assert.deepEqual(problems, [])
})

test('what a form was sent is a table of its answers, and a file', async () => {
  const fields = [
    { key: 'firstName', label: 'Your name', type: 'text', required: true },
    { key: 'company_size', label: 'Company size', type: 'select', required: false, options: ['1', '2 to 10'] },
    { key: 'terms', label: 'I agree', type: 'boolean', required: false },
  ]
  const { form } = await demo.team('POST', `${place}/forms`, { name: 'Visits', title: 'Book a visit', fields })
  const answers = { firstName: 'Marina', company_size: '2 to 10', terms: true }
  assert.equal((await demo.call('POST', `/f/${form.slug}`, answers)).status, 201)
  const { page, problems } = await demo.open(`forms/${form.id}?view=submissions`)
  await page.getByRole('row', { name: /Marina .* Marina 2 to 10 Yes/ }).waitFor()
  await page.getByRole('columnheader', { name: 'Company size' }).waitFor()
  await picture(page, 'submissions-answers')
  assert.deepEqual(await issuesInEachLook(page, 'submissions'), [])
  const lines = await fileFrom(page, () => page.getByRole('button', { name: 'CSV' }).click())
  assert.equal(lines[0], '"When","Lead id","Lead","Your name","Company size","I agree"')
  assert.match(lines[1] ?? '', /"Marina","Marina","2 to 10","Yes"$/)
  assert.deepEqual(problems, [])
})

test('the deeper pages fit a phone and a small screen', async () => {
  const small = { width: 1024, height: 768 }
  for (const viewport of [phone, small]) {
    for (const [path, mark] of [
      ['home', 'First answers'],
      ['settings/audit', 'created a label'],
      ['settings/members', 'Open invitations'],
      ['keys', 'Demo key'],
    ] as const) {
      const { page, problems } = await demo.open(path, { viewport })
      await page.getByText(mark).first().scrollIntoViewIfNeeded()
      await picture(page, `${path.replace('/', '-')}-${viewport.width}`)
      const isWider = await page.evaluate('document.documentElement.scrollWidth > window.innerWidth')
      assert.equal(isWider, false, `${path} at ${viewport.width}`)
      assert.deepEqual(problems, [])
      // Each has a stream open, and a browser opens six to a host.
      await page.close()
    }
  }
})
