import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { chromium } from 'playwright-core'
import { simulatorWorld } from '../support/channels/simulator.ts'

const w = await simulatorWorld({ ladder: { sentMs: 0, deliveredMs: 0, readMs: 0 } })
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
})
after(() => browser.close())

async function openPhone(viewport: { width: number; height: number }) {
  const page = await browser.newPage({ viewport })
  const problems: string[] = []
  const requests: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  page.on('request', (request) => requests.push(request.url()))
  await page.goto(`${w.simulator.url}/phone`)
  return { page, problems, requests }
}

test('one types as the customer, sees the answer and its ticks, and reads it', async () => {
  const zoe = await w.customer()
  const { page, problems, requests } = await openPhone({ width: 1280, height: 800 })
  await page.getByRole('link', { name: /Zoë/ }).click()
  await page.getByRole('textbox', { name: 'Message' }).fill('<b>Olá</b>\nTudo bem?')
  await page.getByRole('button', { name: 'Send', exact: true }).first().click()
  await page.locator('.mine', { hasText: '<b>Olá</b>' }).getByRole('img', { name: 'The business has it' }).waitFor()
  await w.simulator.settled()
  const { messages } = w.changes()[0].value
  assert.equal(messages[0].text.body, '<b>Olá</b>\nTudo bem?')

  w.received.length = 0
  await w.text(zoe.phone, 'Tudo ótimo!')
  const answer = page.locator('.theirs', { hasText: 'Tudo ótimo!' })
  await answer.getByRole('img', { name: 'Delivered' }).waitFor()
  await page.getByRole('button', { name: 'Mark as read' }).click()
  await answer.getByRole('img', { name: 'Read' }).waitFor()
  await w.simulator.settled()
  assert.deepEqual(w.statuses(), ['sent', 'delivered', 'read'])
  await w.send({ status: 'read', message_id: messages[0].id })
  await page.locator('.mine', { hasText: '<b>Olá</b>' }).getByRole('img', { name: 'The business read it' }).waitFor()

  await page.getByLabel('Has a network').uncheck()
  await page.getByText('No network').waitFor()
  await w.text(zoe.phone, 'Are you there?')
  await page.locator('.theirs.waiting').waitFor()
  await page.getByLabel('Has a network').check()
  await page.locator('.theirs', { hasText: 'Are you there?' }).getByRole('img', { name: 'Delivered' }).waitFor()
  await page.getByLabel('Hides the number').check()
  await page.getByRole('button', { name: '+25 h' }).click()
  await page.getByText('only send templates').waitFor()
  await page.getByRole('button', { name: 'Real time' }).click()
  await page.getByText('The business may write').waitFor()
  assert.deepEqual(problems, [])
  assert.equal(
    requests.every((url) => url.startsWith(w.simulator.url) || url.startsWith('data:')),
    true,
  )
})

test('on a phone one pane is shown at a time, with targets for thumbs and nothing too wide', async () => {
  await w.customer()
  const { page, problems } = await openPhone({ width: 375, height: 667 })
  await page.getByRole('link', { name: /Zoë/ }).first().click()
  await page.getByRole('textbox', { name: 'Message' }).fill('Hi')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.locator('.mine', { hasText: /^Hi/ }).waitFor()
  // As text, since these tests are typed for a server.
  const small = await page.evaluate(`
    const shown = [...document.querySelectorAll('button, textarea')].filter((one) => one.offsetParent !== null)
    const small = shown.filter((one) => one.getBoundingClientRect().height < 44).map((one) => one.outerHTML)
    document.documentElement.scrollWidth > 375 ? [...small, 'page'] : small`)
  assert.deepEqual(small, [])
  await page.getByRole('button', { name: 'Settings of this phone' }).click()
  await page.getByLabel('Reads at once').check()
  await page.getByRole('button', { name: 'Back to the chat' }).click()
  await page.getByRole('button', { name: 'Back to the customers' }).click()
  await page.getByRole('heading', { name: 'Simulated phones' }).waitFor()
  assert.deepEqual(problems, [])
})

test('buttons and lists are pressed on the phone, and the platform tells what was chosen', async () => {
  const zoe = await w.customer()
  const { page, problems } = await openPhone({ width: 1280, height: 800 })
  await page.getByRole('link', { name: /Zoë/ }).first().click()
  await page.getByRole('textbox', { name: 'Message' }).fill('Hello')
  await page.getByRole('button', { name: 'Send', exact: true }).first().click()
  const to = `+${zoe.phone}`
  const buttons = ['Yes', 'No'].map((title) => ({ type: 'reply', reply: { id: title, title } }))
  await w.send({
    to,
    type: 'interactive',
    interactive: { type: 'button', body: { text: 'Sure?' }, action: { buttons } },
  })
  const sections = [{ rows: [{ id: 'mon', title: 'Monday', description: 'With Ana' }] }]
  const action = { button: 'See the days', sections }
  await w.send({ to, type: 'interactive', interactive: { type: 'list', body: { text: 'When?' }, action } })
  await w.simulator.settled()
  w.received.length = 0
  await page.locator('.theirs', { hasText: 'Sure?' }).getByRole('button', { name: 'No' }).click()
  await page.locator('.mine', { hasText: 'No' }).waitFor()
  await page.getByText('See the days').click()
  await page.getByRole('button', { name: /Monday/ }).click()
  await page.locator('.mine', { hasText: 'Monday' }).waitFor()
  await w.simulator.settled()
  const told = w.changes().flatMap(({ value }) => value.messages ?? [])
  assert.deepEqual(
    told.map(({ interactive }) => interactive.button_reply?.id ?? interactive.list_reply?.id),
    ['No', 'mon'],
  )
  assert.deepEqual(problems, [])
})
