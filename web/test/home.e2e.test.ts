import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operatorToken } from '../../server/test/support/program/service.ts'
import { duration } from '../src/home/duration.ts'
import { readHomeSearch } from '../src/home/search.ts'
import { moved, statusToken } from '../src/settings/status-token.ts'
import { issuesInEachLook, openDemo, picture, seriousIssues } from './support/demo.ts'

// Before any test: the hooks that end things run as soon as no test is left.
const demo = await openDemo()

test('a length of time is told in the unit that suits it', () => {
  const cases: [seconds: number, told: string][] = [
    [0, '0 sec'],
    [12.4, '12 sec'],
    [59.6, '1 min'],
    [90, '2 min'],
    [3570, '1 hr'],
    [5400, '1.5 hr'],
    [50_400, '14 hr'],
    [86_400, '1 day'],
    [216_000, '2.5 days'],
  ]
  for (const [seconds, told] of cases) assert.equal(duration(seconds, 'en'), told, String(seconds))
})

test('what the address says of the home page is read, and nonsense left out', () => {
  assert.deepEqual(readHomeSearch({ days: 7 }), { days: 7 })
  assert.deepEqual(readHomeSearch({ days: 8, other: 'x' }), {})
})

test('the name of a step becomes a token, and a step moves within the list', () => {
  const cases: [typed: string, token: string | null][] = [
    ['In Review', 'in_review'],
    ['  Negociação! ', 'negociacao'],
    ['won', 'won'],
    ['—', null],
    ['x'.repeat(51), null],
  ]
  for (const [typed, token] of cases) assert.equal(statusToken(typed), token, typed)
  assert.deepEqual(moved(['a', 'b', 'c'], 'b', -1), ['b', 'a', 'c'])
  assert.deepEqual(moved(['a', 'b', 'c'], 'c', 1), ['a', 'b', 'c'])
  assert.deepEqual(moved(['a', 'b', 'c'], 'a', -1), ['a', 'b', 'c'])
})

test('the home page tells what is new while it is open', async () => {
  const { page, problems } = await demo.open('home')
  const today = page.locator('dl > div', { hasText: 'Today' }).getByRole('definition').first()
  await today.waitFor()
  const before = Number(await today.innerText())
  const lead = { firstName: 'Rosa', phone: '+5511988887777', source: 'website' }
  const made = await demo.call('POST', '/api/v1/leads', lead, { authorization: `Bearer ${demo.apiKey}` })
  assert.equal(made.status, 201)
  await page
    .locator('dl > div', { hasText: 'Today' })
    .getByText(String(before + 1), { exact: true })
    .waitFor()
  await page.getByText('7 days').click()
  await page.waitForURL(/days=7/)
  await page.getByText('in 7 days').waitFor()
  assert.deepEqual(problems, [])
})

test('how long customers waited for people is told as soon as somebody has answered', async () => {
  const { page, problems } = await demo.open('home')
  await page.getByText('Nobody was answered in this time.').waitFor()
  const inbox = `/workspaces/${demo.workspaceId}/inbox/conversations`
  const id = await newConversation(inbox)
  await demo.team('POST', `${inbox}/${id}/take-over`, {})
  const sent = await demo.call(
    'POST',
    `/api/team/v1${inbox}/${id}/messages`,
    { kind: 'text', text: 'We are on it.' },
    { authorization: `Bearer ${operatorToken}`, 'idempotency-key': 'home-1' },
  )
  assert.deepEqual([sent.status, sent.body.status], [202, 'sent'])
  await page.getByRole('figure', { name: 'Time to the first answer' }).waitFor()
  await picture(page, 'home-answers')
  await page.getByText(/People answered nine of ten customers within/).waitFor()
  assert.deepEqual(problems, [])
})

/** A customer writes for the first time; answers the conversation's id. */
async function newConversation(inbox: string): Promise<string> {
  const phone = '5511977654321'
  const customers = `${demo.simulatorUrl}/simulator/customers`
  const { body: customer } = await demo.call('POST', customers, { name: 'Rosa Prado', phone })
  await demo.call('POST', `${customers}/${customer.id}/messages`, { text: 'Do you open today?' })
  for (const endMs = Date.now() + 20_000; ; ) {
    const { conversations } = await demo.team('GET', `${inbox}?phone=${phone}`)
    if (conversations.length > 0) return conversations[0].id
    assert.ok(Date.now() < endMs, 'the message has not come')
  }
}

test('what is the matter leads to where it is mended', async () => {
  await demo.team('PATCH', `/workspaces/${demo.workspaceId}`, { agentsStopped: true, dailyLeadQuota: 1 })
  const { page, problems } = await demo.open('home')
  await page.getByRole('link', { name: /lead limit is reached/ }).waitFor()
  await picture(page, 'home-attention')
  assert.deepEqual(await seriousIssues(page), [])
  await page.getByRole('link', { name: /All agents are stopped/ }).click()
  await page.getByRole('heading', { name: 'Agents', exact: true }).waitFor()
  await demo.team('PATCH', `/workspaces/${demo.workspaceId}`, { agentsStopped: false, dailyLeadQuota: 0 })
  assert.deepEqual(problems, [])
})

test('a fresh workspace, made by an operator, shows a short way to begin', async () => {
  const { page, problems } = await demo.open('settings/workspaces')
  await page.getByRole('button', { name: 'New workspace' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Second shop')
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
  await page.getByRole('button', { name: 'Second shop' }).click()
  const begin = page.getByRole('region', { name: 'Getting started' })
  await begin.waitFor()
  await picture(page, 'home-begin')
  assert.deepEqual(await seriousIssues(page), [])
  await begin.getByRole('link', { name: 'Go to API keys' }).click()
  await page.getByRole('heading', { name: 'API keys' }).waitFor()
  await page.goBack()
  await begin.getByRole('button', { name: 'Dismiss' }).click()
  await begin.waitFor({ state: 'detached' })
  await page.reload()
  await page.getByText('Nothing needs your attention right now.').waitFor()
  assert.equal(await begin.count(), 0)
  assert.deepEqual(problems, [])
})

test('the home page is usable without eyes or a mouse, in both schemes and on a phone', async () => {
  const { page, problems } = await demo.open('home')
  await page.getByText('Leads per day').first().waitFor()
  assert.deepEqual(await issuesInEachLook(page, 'home'), [])
  assert.deepEqual(problems, [])
})
