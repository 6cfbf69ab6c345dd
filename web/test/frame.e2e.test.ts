import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from './support/composing.ts'
import { openDemo, phone, seriousIssues, visitOf } from './support/demo.ts'

const demo = await openDemo()

test('one signs in by the link of the first start and stands in the workspace', async () => {
  const { page, problems } = await demo.open()
  await page.waitForURL(new RegExp(`/w/${demo.workspaceId}/home$`))
  assert.deepEqual(problems, [])
})

test('a stranger who follows a link into the app comes to it after signing in', async () => {
  const { page } = await visitOf(demo.browser, {})
  await page.goto(`${demo.url}/w/${demo.workspaceId}/settings`)
  await page.waitForURL(/\/sign-in\?next=%2Fw%2F/)
  assert.equal(await page.locator('input[name=next]').inputValue(), `/w/${demo.workspaceId}/settings`)
})

test('the palette goes to a page by its name, and G with a letter does too', async () => {
  const { page, problems } = await demo.open()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('sett')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/settings$/)
  await page.keyboard.press('g')
  await page.keyboard.press('h')
  await page.waitForURL(/\/home$/)
  await until(
    () => page.title(),
    (title) => /^(\(\d+\) )?Home · Parley$/.test(title),
  )
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Go to Settings').waitFor()
  assert.deepEqual(problems, [])
})

test('the palette makes something new, changes the look and finds a customer, in the words of its language', async () => {
  const { page, problems } = await demo.open('home', { language: 'pt' })
  const ask = async (words: string) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Buscar ou ir para…' }).fill(words)
  }
  await ask('noite')
  await page.getByRole('option', { name: 'Aparência: Escuro' }).waitFor()
  await page.keyboard.press('Enter')
  await page.locator('html[data-mantine-color-scheme=dark]').waitFor()
  await ask('marina aze')
  // The conversation and the lead, of which either may be found first.
  const found = page.getByRole('option', { name: /Marina Azevedo/ })
  await found.nth(1).waitFor()
  await found.first().click()
  await page.waitForURL(/\/inbox\//)
  await ask('novo lead')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Novo lead' }).waitFor()
  await page.waitForURL(/\/leads$/)
  assert.deepEqual(problems, [])
})

test('one skips from the first Tab to the page, and from the list to the conversation', async () => {
  const { page } = await demo.open('inbox')
  await page.getByRole('link', { name: /Marina Azevedo/ }).click()
  await page.getByRole('region', { name: /^Conversation with/ }).waitFor()
  // From the beginning of the page, and not from what was clicked.
  await page.reload()
  await page.getByRole('region', { name: /^Conversation with/ }).waitFor()
  await page.keyboard.press('Tab')
  const skip = page.getByRole('link', { name: 'Skip to the page' })
  await skip.and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Enter')
  await page.locator('main:focus').waitFor()
  await page.keyboard.press('Tab')
  await page.getByRole('link', { name: 'Skip to the conversation' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Enter')
  await page.locator('#thread:focus').waitFor()
  assert.equal(await page.locator('[data-row][tabindex="0"]').count(), 1)
})

test('the app speaks the language of the browser, and another when asked', async () => {
  const { page } = await demo.open('home', { language: 'pt' })
  await page.getByRole('link', { name: 'Início' }).waitFor()
  await page.getByRole('button', { name: /^Você/ }).click()
  await page.getByRole('menuitem', { name: 'Español' }).click()
  await page.getByRole('link', { name: 'Inicio' }).waitFor()
})

test('nothing of the app is loaded from elsewhere, and no script or style is inline', async () => {
  const { page } = await demo.open()
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  const response = await page.reload()
  assert.match(String(response?.headers()['content-security-policy']), /script-src 'self';/)
  await page.getByRole('navigation').waitFor()
  assert.deepEqual(
    requests.filter((url) => !url.startsWith(demo.url) && !url.startsWith('data:')),
    [],
  )
})

test('a room typed without a workspace is that of the workspace', async () => {
  const { page, problems } = await demo.open('leads')
  for (const room of ['inbox', 'settings']) {
    await page.goto(`${demo.url}/${room}?view=all`)
    await page.waitForURL(`${demo.url}/w/${demo.workspaceId}/${room}?view=all`)
  }
  assert.deepEqual(problems, [])
})

test('the frame is usable without eyes or a mouse, in both schemes and on a phone', async () => {
  for (const options of [{}, { colorScheme: 'dark' as const }, { viewport: phone }]) {
    const { page } = await demo.open('home', options)
    assert.deepEqual(await seriousIssues(page), [])
  }
})

test('the focus is ringed, but where it is shown in another way', async () => {
  const { page } = await demo.open('inbox')
  const ring = () => page.evaluate('getComputedStyle(document.activeElement).outlineStyle')
  await page.getByRole('link', { name: /Marina Azevedo/ }).waitFor()
  await page.keyboard.press('Tab')
  assert.equal(await ring(), 'solid')
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').fill('inbox')
  assert.equal(await ring(), 'none')
})

test('the time machine of the phones signs nobody out', async () => {
  const { page } = await demo.open()
  const phones = await page.context().newPage()
  await phones.goto(`${demo.simulatorUrl}/phone`)
  for (let day = 0; day < 20; day++) await phones.getByRole('button', { name: '+25 h' }).click()
  await phones.close()
  await page.goto(`${demo.url}/w/${demo.workspaceId}/settings`)
  await page.getByRole('heading', { name: 'Settings' }).waitFor()
})

test('phones of a simulator that was started anew say where their chats are', async () => {
  await demo.restart()
  const { page } = await visitOf(demo.browser, {})
  await page.goto(`${demo.simulatorUrl}/phone`)
  const notice = page.getByText('The simulator was started anew and has forgotten this chat')
  await notice.waitFor()
  await page.getByRole('textbox', { name: 'Message' }).fill('I am back')
  await page.getByRole('button', { name: 'Send' }).first().click()
  await notice.waitFor({ state: 'hidden' })
})
