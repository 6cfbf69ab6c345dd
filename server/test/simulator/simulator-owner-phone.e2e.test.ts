import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { chromium } from 'playwright-core'
import { openDevice, qrNetwork } from '../support/channels/qr-network.ts'

const w = await qrNetwork()
const { url, number, phone } = w.simulator
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
})
after(() => browser.close())
afterEach(() => w.unlinkAll())

async function open(path: string, viewport: { width: number; height: number }) {
  const page = await browser.newPage({ viewport })
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  await page.goto(`${url}${path}`)
  return { page, problems }
}
const isQr = (_event: string, data: { qr?: unknown }) => typeof data.qr === 'string'

test('the owner scans a code, answers a chat and is heard by the device, and unlinks it', async () => {
  const { page, problems } = await open('/phone/owner', { width: 1280, height: 800 })
  await page.getByText('No QR code is shown anywhere').waitFor()
  const asking = openDevice(url)
  await asking.next(isQr)
  await page.getByText('A QR code is shown').waitFor()
  await page.getByText(/^good for (60|5\d) s$/).waitFor()
  await page.getByRole('button', { name: 'Scan' }).click()
  assert.equal(await asking.closed(), 515)
  await page.getByText('Parley, away').waitFor()
  const device = openDevice(url, { store: asking.store })
  await device.opened()
  await page.getByText('Parley, connected').waitFor()

  const ana = await w.person({ name: 'Ana Dias' })
  await w.writes(ana.id, 'Is it <b>open</b> today?')
  await page.getByRole('link', { name: /Ana Dias/ }).click()
  await page.locator('.theirs', { hasText: 'Is it <b>open</b> today?' }).waitFor()
  await page.getByRole('button', { name: 'Mark as read' }).click()
  await page.getByRole('button', { name: 'Mark as read' }).waitFor({ state: 'hidden' })
  await page.getByRole('textbox', { name: 'Message' }).last().fill('Until seven')
  await page.getByRole('button', { name: 'Send', exact: true }).last().click()
  await page.locator('.mine', { hasText: 'Until seven' }).getByRole('img', { name: 'Delivered' }).waitFor()
  assert.equal((await device.upsert('notify')).key.fromMe, false)
  assert.deepEqual((await device.upsert('notify')).message, { extendedTextMessage: { text: 'Until seven' } })
  await device.socket.send({ id: '3EB0AAAAAAAAAAAAAAAAAA', jid: ana.userId, text: 'And on Sunday', previewUrl: false })
  await page.locator('.mine', { hasText: 'And on Sunday' }).getByText('by a linked device').waitFor()

  await page.getByText('New chat').click()
  await page.getByLabel('Number with country code').fill('+55 11 95550-7777')
  await page.getByLabel('Message', { exact: true }).first().fill('We are open')
  await page.getByRole('button', { name: 'Send', exact: true }).first().click()
  await page.locator('.mine', { hasText: 'We are open' }).waitFor()
  await page.getByRole('button', { name: 'Line lost · 428' }).click()
  assert.equal(await device.closed(), 428)
  await page.getByRole('button', { name: 'Unlink' }).click()
  await page.getByText('No device is linked.').waitFor()
  assert.deepEqual(problems, [])
})

test('eight characters do as well, and a wrong code says so', async () => {
  const { page } = await open('/phone/owner', { width: 1280, height: 800 })
  const asking = openDevice(url)
  await asking.next(isQr)
  const code = await asking.socket.pairingCode(phone.phone)
  await page.getByText('A device waits for its code').waitFor()
  const field = page.getByLabel('Eight characters that the device shows')
  await field.fill('AAAA-0000')
  await page.getByRole('button', { name: 'Link', exact: true }).click()
  await page.getByRole('alert').getByText('No device waits for this code').waitFor()
  await field.fill(code.toLowerCase())
  await page.getByRole('button', { name: 'Link', exact: true }).click()
  assert.equal(await asking.closed(), 515)
})

test('a customer writes to the official number and to the phone from one page', async () => {
  const { page, problems } = await open('/phone', { width: 1280, height: 800 })
  await page.getByLabel('They write to').selectOption(number.numberId)
  await page.getByText('Add a customer').click()
  await page.getByLabel('Name').fill('Rui Costa')
  await page.getByLabel('Number with country code').fill('+351 910 000 001')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.locator('.chat-head', { hasText: number.name }).waitFor()
  await page.getByLabel('Writes to', { exact: true }).selectOption(phone.numberId)
  await page.locator('.chat-head', { hasText: phone.name }).waitFor()
  await page.getByRole('textbox', { name: 'Message' }).fill('Olá, telefone')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.locator('.mine', { hasText: 'Olá, telefone' }).getByRole('img', { name: 'The business has it' }).waitFor()
  const { chats } = await w.phone()
  assert.deepEqual([chats[0].name, chats[0].lastText, chats[0].unread], ['Rui Costa', 'Olá, telefone', 1])
  assert.deepEqual(problems, [])
})

test('on a phone one pane is shown at a time, with targets for thumbs and nothing too wide', async () => {
  const leo = await w.person({ name: 'Leo' })
  await w.writes(leo.id, 'Hi')
  const { page, problems } = await open('/phone/owner', { width: 375, height: 667 })
  const tooSmall = `
    const shown = [...document.querySelectorAll('button, textarea, select')].filter((one) => one.offsetParent !== null)
    const small = shown.filter((one) => one.getBoundingClientRect().height < 44).map((one) => one.outerHTML)
    document.documentElement.scrollWidth > 375 ? [...small, 'page'] : small`
  assert.deepEqual(await page.evaluate(tooSmall), [])
  await page.getByRole('button', { name: /Linked devices/ }).click()
  await page.getByText('No device is linked.').waitFor()
  assert.deepEqual(await page.evaluate(tooSmall), [])
  await page.getByRole('button', { name: 'Back to the chats' }).last().click()
  await page.getByRole('link', { name: /Leo/ }).click()
  await page.locator('.theirs', { hasText: 'Hi' }).waitFor()
  assert.deepEqual(await page.evaluate(tooSmall), [])
  await page.getByRole('button', { name: 'Back to the chats' }).first().click()
  await page.getByRole('link', { name: /Leo/ }).waitFor()
  assert.deepEqual(problems, [])
})
