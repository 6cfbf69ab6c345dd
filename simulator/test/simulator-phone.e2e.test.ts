import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { chromium, type Page } from 'playwright-core'
import { findChromium } from '../../scripts/chromium.ts'
import { openDevice } from '../../server/test/support/channels/session-socket.ts'
import { simulatorWorld } from '../../server/test/support/channels/simulator.ts'
import { atEnd, oncePerFile } from '../../server/test/support/file-lifecycle.ts'
import { until } from '../../server/test/support/until.ts'
import { addReadyMade } from '../src/files/sample-files.ts'

const w = await simulatorWorld()
const { simulator } = w
const { url, number, phone } = simulator
const desktop = { width: 1280, height: 800 }
const handheld = { width: 375, height: 667 }

const browser = oncePerFile(async () => {
  const executablePath = findChromium() ?? assert.fail('there is no Chromium')
  const fakes = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream']
  const opened = await chromium.launch({
    ...{ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', ...fakes] },
  })
  atEnd(() => opened.close())
  return opened
})

/** Opens a page of the simulator; `problems` collects console errors and requests to other hosts. */
async function open(path: string, viewport = desktop) {
  const page = await (await browser()).newPage({ viewport })
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  page.on(
    'request',
    (request) => /^(?:data|blob):/.test(request.url()) || request.url().startsWith(url) || problems.push(request.url()),
  )
  await page.goto(url + path)
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: typeof name === 'string' })
  const type = async (text: string) => {
    const box = page.getByRole('textbox', { name: 'Message' }).last()
    await box.fill(text)
    await box.press('Enter')
  }
  return { page, problems, button, type }
}

/** Opens the phone of a customer who has just written. */
async function openPhone(viewport = desktop) {
  const zoe = await w.customer()
  const opened = await open(`/phone#${zoe.id}`, viewport)
  const { page, button } = opened
  await page.locator('.mine', { hasText: 'Hello' }).waitFor()
  const attach = async (name: string) => {
    await button('Attach').click()
    await button(name).last().click()
  }
  const about = async (words: string, name: string) => {
    const bubble = page.locator('.bubble', { hasText: words }).first()
    await bubble.hover()
    await bubble.getByRole('button', { name: 'More actions' }).click()
    await button(name).last().click()
  }
  const told = async () => {
    await simulator.settled()
    return w.changes().at(-1)?.value.messages?.[0]
  }
  return { ...opened, zoe, attach, about, told }
}

/** Asserts that every control is large enough for a thumb, and that nothing is wider than the phone. */
async function assertFitsThumbs(page: Page): Promise<void> {
  // As a string, since these tests are type-checked for a server.
  const tooSmall = `
    const shown = [...document.querySelectorAll('button, textarea, select')].filter((one) => one.checkVisibility())
    const small = shown.filter((one) => one.getBoundingClientRect().height < 44).map((one) => one.outerHTML)
    document.documentElement.scrollWidth > ${handheld.width} ? [...small, 'page'] : small`
  assert.deepEqual(await page.evaluate(tooSmall), [])
}

test('a user writes as the customer, sees the reply and its ticks, reads it, and controls the network and the clock', async () => {
  const { page, problems, button, type, zoe, told } = await openPhone()
  await type('<b>Olá</b>\nTudo bem?')
  const mine = page.locator('.mine', { hasText: '<b>Olá</b>' })
  await mine.getByRole('img', { name: 'Delivered to the business' }).waitFor()
  const { id, text } = await told()
  assert.equal(text.body, '<b>Olá</b>\nTudo bem?')
  await w.text(zoe.phone, 'Tudo ótimo!')
  const answer = page.locator('.theirs', { hasText: 'Tudo ótimo!' })
  await answer.getByRole('img', { name: 'Delivered' }).waitFor()
  await button('Mark as read').click()
  await answer.getByRole('img', { name: 'Read' }).waitFor()
  await w.send({ status: 'read', message_id: id })
  await mine.getByRole('img', { name: 'Read by the business' }).waitFor()

  await button('+25 h').click()
  await page.getByText('only send templates').waitFor()
  await button('Real time').click()
  await page.getByText('The business may write').waitFor()
  assert.deepEqual(problems, [])
})

test('a user presses buttons, chooses from lists, reacts, replies, edits and deletes', async () => {
  const { page, problems, button, type, zoe, about, told } = await openPhone()
  const buttons = ['Yes', 'No'].map((title) => ({ type: 'reply', reply: { id: title, title } }))
  const sections = [{ rows: [{ id: 'mon', title: 'Monday', description: 'With Ana' }] }]
  for (const interactive of [
    { type: 'button', body: { text: 'Sure?' }, action: { buttons } },
    { type: 'list', body: { text: 'When?' }, action: { button: 'See the days', sections } },
  ]) {
    await w.send({ to: zoe.phone, type: 'interactive', interactive })
  }
  await page.locator('.theirs', { hasText: 'Sure?' }).getByRole('button', { name: 'No' }).click()
  await page.locator('.mine', { hasText: 'No' }).waitFor()
  assert.equal((await told()).interactive.button_reply.id, 'No')
  await page.getByText('See the days').click()
  await button(/Monday/).click()
  await page.locator('.mine', { hasText: 'Monday' }).waitFor()
  assert.equal((await told()).interactive.list_reply.id, 'mon')

  await about('Sure?', 'React with ❤️')
  await page.locator('.theirs .reactions', { hasText: '❤️' }).waitFor()
  assert.equal((await told()).reaction.emoji, '❤️')
  await about('Sure?', 'Remove ❤️')
  await page.locator('.reactions').waitFor({ state: 'detached' })
  await about('Sure?', 'Reply')
  await type('Gren')
  await page.locator('.mine', { hasText: 'Gren' }).getByRole('button', { name: /Sure/ }).waitFor()
  assert.equal(typeof (await told()).context.id, 'string')
  await about('Gren', 'Edit')
  await type('Blue, please')
  await page.locator('.mine', { hasText: 'Blue, please' }).getByText('edited').waitFor()
  await about('Blue, please', 'Delete')
  await page.locator('.mine').getByText('Deleted').waitFor()
  assert.equal((await told()).type, 'revoke')
  assert.deepEqual(problems, [])
})

test('a user sends pictures, a voice note, a location and a contact, and sees files from the team', async () => {
  const { page, problems, button, zoe, attach, told } = await openPhone()
  const choosing = page.waitForEvent('filechooser')
  await attach('Photo or video')
  const picture = {
    name: 'a.png',
    mimeType: 'image/png',
    buffer: readFileSync(new URL('../src/files/samples/chart.png', import.meta.url)),
  }
  await (await choosing).setFiles([picture, { ...picture, name: 'b.png' }])
  await page.locator('.mine img').nth(1).waitFor()
  assert.equal((await told()).image.mime_type, 'image/png')

  await button('Record a voice note').click()
  await page.getByText('0:01', { exact: true }).waitFor()
  await button('Send the voice note').click()
  await page.locator('.mine audio').waitFor()
  const { audio } = await told()
  assert.deepEqual([audio.mime_type, audio.voice], ['audio/ogg; codecs=opus', true])
  await attach('Place')
  await page.getByLabel('Location name').fill('The workshop')
  await button('Send location').click()
  await page.locator('.mine', { hasText: 'The workshop' }).waitFor()
  await attach('Contact')
  await page.getByLabel('Contact name').fill('Rui Costa')
  await button('Send contact').click()
  await page.locator('.mine', { hasText: 'Rui Costa' }).waitFor()
  assert.equal((await told()).contacts[0].phones[0].phone, '+34600555177')

  const { id } = addReadyMade(simulator.platform.files, number.numberId, 'pdf')
  await w.send({ to: zoe.phone, type: 'document', document: { id, filename: 'offer.pdf' } })
  // The list of chats names it as well.
  await page
    .locator('.theirs')
    .getByRole('link', { name: /offer\.pdf/ })
    .waitFor()
  assert.deepEqual(problems, [])
})

test('the owner scans a code, replies in a chat, the device receives it, and the owner unlinks the device', async () => {
  const { page, problems, button, type } = await open('/phone/owner')
  const asking = openDevice(url)
  await asking.offered()
  await page.getByText('Waiting for a QR scan').waitFor()
  await button('Scan').click()
  assert.equal(await asking.closed(), 515)
  await page.getByText('Parley, disconnected').waitFor()
  const device = openDevice(url, { store: asking.store })
  await device.opened()
  await page.getByText('Parley, connected').waitFor()

  const ana = await w.person({ name: 'Ana Dias' })
  await w.writes(ana.id, 'Is it <b>open</b> today?')
  await page.getByRole('link', { name: /Ana Dias/ }).click()
  await page.locator('.theirs', { hasText: 'Is it <b>open</b> today?' }).waitFor()
  await button('Mark as read').click()
  await button('Mark as read').waitFor({ state: 'hidden' })
  await type('Until seven')
  await page.locator('.mine', { hasText: 'Until seven' }).getByRole('img', { name: 'Delivered' }).waitFor()
  assert.equal((await device.upsert('notify')).key.fromMe, false)
  assert.deepEqual((await device.upsert('notify')).message, { extendedTextMessage: { text: 'Until seven' } })
  await device.socket.send({ id: '3EB0AAAAAAAAAAAAAAAAAA', jid: ana.userId, text: 'And on Sunday', previewUrl: false })
  await page.locator('.mine', { hasText: 'And on Sunday' }).getByText('by a linked device').waitFor()
  await button('Connection lost · 428').click()
  assert.equal(await device.closed(), 428)
  await button('Unlink').click()
  await page.getByText('No device is linked.').waitFor()
  assert.deepEqual(problems, [])

  const typed = openDevice(url)
  await typed.offered()
  const code = await typed.socket.pairingCode(phone.phone)
  const field = page.getByLabel('Pairing code of the device')
  await field.fill('AAAA-0000')
  await button('Link').click()
  await page.getByRole('alert').getByText('No device is waiting for this code').waitFor()
  await field.fill(code.toLowerCase())
  await button('Link').click()
  assert.equal(await typed.closed(), 515)
  await w.unlinkAll()
})

test('on a phone one pane is shown at a time, with touch targets and no horizontal overflow', async () => {
  const { page, problems, button } = await openPhone(handheld)
  await button('Attach').click()
  await assertFitsThumbs(page)
  await page.keyboard.press('Escape')
  await button('More actions').click()
  await assertFitsThumbs(page)
  await page.keyboard.press('Escape')
  await button('Settings of this phone').click()
  await page.getByLabel('Reads at once').check()
  await button('Back to the chat').click()
  await button('Back to the customers').click()
  await page.getByRole('heading', { name: 'Simulated phones' }).waitFor()
  assert.deepEqual(problems, [])
  const owner = await open('/phone/owner', handheld)
  await assertFitsThumbs(owner.page)
  await owner.button(/Linked devices/).click()
  await owner.page.getByText('No device is linked.').waitFor()
  await assertFitsThumbs(owner.page)
  assert.deepEqual(owner.problems, [])
})

test('the page of the platform adds a number, and breaks and repairs what Parley asks about it', async () => {
  for (const viewport of [desktop, handheld]) {
    const { page, problems, button } = await open('/phone/platform', viewport)
    const name = `Shop ${viewport.width}`
    await page.getByLabel('Name', { exact: true }).fill(name)
    await button('Add number').click()
    const card = page.getByRole('listitem').filter({ hasText: name })
    await card.getByLabel('State of the token').selectOption('Expired')
    const token = await card.getByLabel('Access token').inputValue()
    const code = async () => (await w.graph('GET', 'me', undefined, token)).body.error?.error_subcode ?? 'ok'
    await until(async () => (await code()) === 463, 'the token to expire')
    await card.getByLabel('State of the token').selectOption('Does not expire')
    await until(async () => (await code()) === 'ok', 'the token to work')
    await card.getByLabel('PIN').fill(`12${viewport.width}`.padEnd(6, '0'))
    await page.keyboard.press('Tab')
    await until(
      () => [...simulator.platform.world.numbers.values()].some(({ pin }) => pin.startsWith(`12${viewport.width}`)),
      'the PIN',
    )
    await button('Too many calls · 80007').click()
    await page.getByRole('button', { name: /80007/, pressed: true }).waitFor()
    assert.equal((await w.graph('GET', 'me', undefined, token)).body.error.code, 80_007)
    await button('Normal').click()
    await page.getByRole('button', { name: 'Normal', pressed: true }).waitFor()
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    assert.ok(width <= viewport.width, `${width} px`)
    assert.deepEqual(problems, [])
    await page.close()
  }
})
