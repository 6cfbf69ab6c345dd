import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { chromium } from 'playwright-core'
import { chart, drawPng } from '../../src/simulator/files/drawings.ts'
import { addReadyMade } from '../../src/simulator/files/ready-made.ts'
import { simulatorWorld } from '../support/channels/simulator.ts'

const w = await simulatorWorld()
const { simulator } = w
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--use-fake-device-for-media-stream',
    '--use-fake-ui-for-media-stream',
  ],
})
after(() => browser.close())

async function openPhone(viewport = { width: 1280, height: 800 }) {
  const zoe = await w.customer()
  const page = await browser.newPage({ viewport })
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  await page.goto(`${simulator.url}/phone#${zoe.id}`)
  await page.locator('.mine', { hasText: 'Hello' }).waitFor()
  const attach = async (name: string) => {
    await page.getByRole('button', { name: 'Attach' }).click()
    await page.getByRole('button', { name, exact: true }).last().click()
  }
  const about = async (words: string, name: string) => {
    const bubble = page.locator('.bubble', { hasText: words }).first()
    await bubble.hover()
    await bubble.getByRole('button', { name: 'More about this message' }).click()
    await page.getByRole('button', { name, exact: true }).last().click()
  }
  const told = async () => {
    await simulator.settled()
    const { messages = [] } = w.changes().at(-1)?.value ?? {}
    return messages[0]
  }
  return { zoe, page, problems, attach, about, told }
}

test('one sends a picture from the disk, several at once, and sees them', async () => {
  const { page, problems, attach, told } = await openPhone()
  const choosing = page.waitForEvent('filechooser')
  await attach('Photo or video')
  const picture = { name: 'a.png', mimeType: 'image/png', buffer: drawPng(chart, 120, 90) }
  await (await choosing).setFiles([picture, { ...picture, name: 'b.png' }])
  await page.locator('.mine img').nth(1).waitFor()
  const widths =
    'Promise.all([...document.querySelectorAll(".mine img")].map((one) => one.decode().then(() => one.naturalWidth)))'
  assert.deepEqual(await page.evaluate(widths), [120, 120])
  assert.equal((await told()).image.mime_type, 'image/png')
  assert.deepEqual(problems, [])
})

test('one records a voice note, hears it, and it goes as phones send it', async () => {
  const { page, problems, told } = await openPhone()
  await page.getByRole('button', { name: 'Record a voice note' }).click()
  await page.getByText('0:01', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.getByRole('button', { name: 'Record a voice note' }).click()
  await page.getByText('0:01', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Send the voice note' }).click()
  await page.locator('.mine audio').waitFor()
  const lasts =
    'new Promise((done) => { const one = document.querySelector(".mine audio"); const look = () => one.duration ? done(one.duration) : setTimeout(look, 20); look() })'
  assert.ok(Number(await page.evaluate(lasts)) > 0.8)
  assert.equal(await page.locator('.mine audio').count(), 1)
  const { audio } = await told()
  assert.deepEqual([audio.mime_type, audio.voice], ['audio/ogg; codecs=opus', true])
  assert.deepEqual(problems, [])
})

test('one sends a place and a contact by their forms', async () => {
  const { page, problems, attach, told } = await openPhone()
  await attach('Place')
  await page.getByLabel('What it is called').fill('The workshop')
  await page.getByRole('button', { name: 'Send the place' }).click()
  await page.locator('.mine', { hasText: 'The workshop' }).waitFor()
  assert.equal((await told()).location.name, 'The workshop')
  await attach('Contact')
  await page.getByLabel('Who it is').fill('Rui Costa')
  await page.getByRole('button', { name: 'Send the contact' }).click()
  await page.locator('.mine', { hasText: 'Rui Costa' }).waitFor()
  assert.equal((await told()).contacts[0].phones[0].phone, '+34600555177')
  await attach('Contact')
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  assert.equal(await page.locator('.mine', { hasText: 'Lucía' }).count(), 0)
  assert.deepEqual(problems, [])
})

test('one sees what the team sends, reacts to it and takes that back', async () => {
  const { zoe, page, problems, about, told } = await openPhone()
  const { id } = addReadyMade(simulator.platform.files, simulator.number.numberId, 'photo')
  const { id: pdf } = addReadyMade(simulator.platform.files, simulator.number.numberId, 'pdf')
  await w.send({ to: zoe.phone, type: 'image', image: { id, caption: 'Like this?' } })
  await w.send({ to: zoe.phone, type: 'document', document: { id: pdf, filename: 'offer.pdf' } })
  await page.locator('.theirs', { hasText: 'Like this?' }).getByRole('img', { name: 'Photo' }).waitFor()
  const saving = page.waitForEvent('download')
  // The list of chats names it as well.
  await page
    .locator('.theirs')
    .getByRole('link', { name: /offer\.pdf/ })
    .click()
  assert.equal((await saving).suggestedFilename(), 'offer.pdf')
  await about('Like this?', 'React with ❤️')
  await page.locator('.theirs .reactions', { hasText: '❤️' }).waitFor()
  assert.equal((await told()).reaction.emoji, '❤️')
  await about('Like this?', 'Take back ❤️')
  await page.locator('.reactions').waitFor({ state: 'detached' })
  assert.equal((await told()).reaction.emoji, undefined)
  assert.deepEqual(problems, [])
})

test('one answers to a message, edits and withdraws one’s own', async () => {
  const { zoe, page, problems, about, told } = await openPhone()
  await w.text(zoe.phone, 'Green or blue?')
  await page.locator('.theirs', { hasText: 'Green or blue?' }).waitFor()
  await about('Green or blue?', 'Answer')
  await page.getByText('Answer to').waitFor()
  const box = page.getByRole('textbox', { name: 'Message' })
  await box.fill('Gren')
  await box.press('Enter')
  await page
    .locator('.mine', { hasText: 'Gren' })
    .getByRole('button', { name: /Green or blue/ })
    .waitFor()
  await page.getByText('Answer to').waitFor({ state: 'hidden' })
  assert.equal(typeof (await told()).context.id, 'string')
  await about('Gren', 'Edit')
  assert.equal(await box.inputValue(), 'Gren')
  await box.fill('Blue, please')
  await box.press('Enter')
  await page.locator('.mine', { hasText: 'Blue, please' }).getByText('edited').waitFor()
  assert.equal((await told()).edit.message.text.body, 'Blue, please')
  await about('Blue, please', 'Withdraw')
  await page.locator('.mine').getByText('Withdrawn').waitFor()
  assert.equal((await told()).type, 'revoke')
  assert.deepEqual(problems, [])
})

test('a sound goes on while other messages come', async () => {
  const { zoe, page } = await openPhone()
  await page.getByRole('button', { name: 'Voice', exact: true }).click()
  await page.locator('.mine audio').waitFor()
  await simulator.settled()
  await page.locator('.mine:has(audio)').getByRole('img', { name: 'The business has it' }).waitFor()
  await page.evaluate('globalThis.heard = document.querySelector(".mine audio")')
  await w.text(zoe.phone, 'One more thing')
  await page.locator('.theirs', { hasText: 'One more thing' }).getByRole('img', { name: 'Delivered' }).waitFor()
  assert.equal(await page.evaluate('globalThis.heard.isConnected'), true)
})

test('on a phone the menus are large enough and nothing is too wide', async () => {
  const { page, about } = await openPhone({ width: 375, height: 667 })
  await page.getByRole('button', { name: 'Attach' }).click()
  // As text, since these tests are typed for a server.
  const small = `
    const shown = [...document.querySelectorAll('button, textarea')].filter((one) => one.checkVisibility())
    const small = shown.filter((one) => one.getBoundingClientRect().height < 44).map((one) => one.outerHTML)
    document.documentElement.scrollWidth > 375 ? [...small, 'page'] : small`
  assert.deepEqual(await page.evaluate(small), [])
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'More about this message' }).click()
  assert.deepEqual(await page.evaluate(small), [])
  await page.keyboard.press('Escape')
  await about('Hello', 'Answer')
  assert.deepEqual(await page.evaluate(small), [])
})

test('the owner sends a picture from the business’s own phone', async () => {
  const { numberId } = simulator.phone
  const { body: uma } = await w.call('POST', '/simulator/customers', { name: 'Uma', phone: '442079555599', numberId })
  await w.call('POST', `/simulator/customers/${uma.id}/messages`, { kind: 'voice' })
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  const problems: string[] = []
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  await page.goto(`${simulator.url}/phone/owner#${uma.id}`)
  await page.locator('.theirs audio').waitFor()
  const choosing = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Attach' }).click()
  await page.getByRole('button', { name: 'Photo or video' }).click()
  await (await choosing).setFiles({ name: 'a.png', mimeType: 'image/png', buffer: drawPng(chart, 60, 40) })
  await page.locator('.mine').getByRole('img', { name: 'Photo' }).waitFor()
  const { messages } = (await w.call('GET', `/simulator/customers/${uma.id}`)).body
  assert.deepEqual([messages.at(-1).from, messages.at(-1).file.width], ['device', 60])
  assert.deepEqual(problems, [])
})

test('a file that is too long is refused before it leaves, in words', async () => {
  const { page } = await openPhone()
  await page.evaluate(`
    const files = new DataTransfer()
    const file = new File(['x'], 'long.bin')
    Object.defineProperty(file, 'size', { value: 100 * 1024 * 1024 + 1 })
    files.items.add(file)
    const event = new Event('paste', { cancelable: true })
    event.clipboardData = { files: [file] }
    document.getElementById('text').dispatchEvent(event)`)
  await page.getByRole('alert').getByText('at most 100 MB').waitFor()
})
