import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from '../support/accessibility.ts'
import { pickItem } from '../support/actions.ts'
import { visitOf } from '../support/browser.ts'
import { newMember, sharedDemo, signIn } from '../support/demo.ts'

const demo = await sharedDemo()

test('the sign-in link of the first start opens the workspace', async () => {
  const { page } = await demo.open()
  await page.waitForURL(new RegExp(`/w/${demo.workspaceId}/home$`))
})

test('a link into the app opens after sign-in, and the person signs out again', async () => {
  const { email } = await newMember(demo, 'Sara Porta')
  const { page } = await visitOf(demo.browser)
  const place = `${demo.url}/w/${demo.workspaceId}/settings/labels`
  await page.goto(place)
  await page.waitForURL(/\/sign-in\?next=%2Fw%2F/)
  await signIn(page, email, 'not the right one')
  await page.getByRole('alert').waitFor()
  await signIn(page, email)
  await page.waitForURL(place)
  await page.getByRole('heading', { name: 'Labels', exact: true }).waitFor()
  await pickItem(page.getByRole('button', { name: 'You: Sara Porta' }), { name: 'Sign out' })
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.goto(place)
  await page.waitForURL(/\/sign-in\?next=/)
  assert.equal(await page.getByRole('navigation', { name: 'Main' }).count(), 0)
})

test('pages before sign-in use the app’s font from the start, and a short password shows an error beside it', async () => {
  const { email } = await newMember(demo, 'Lia Senha')
  const { members } = await demo.team('GET', `/workspaces/${demo.workspaceId}/members`)
  const { userId } = members.find((member: { email: string }) => member.email === email)
  await demo.db.sql`update users set password_hash = null where id = ${userId}`
  const { url } = await demo.team('POST', '/sign-in-links', { email })
  const { page } = await visitOf(demo.browser)
  await page.goto(url)
  await page.getByRole('button', { name: 'Sign in' }).click()
  const field = page.getByRole('textbox', { name: 'Password' })
  await field.fill('short')
  await page.getByRole('button', { name: 'Set password' }).click()
  const wrong = field.and(page.locator('[aria-invalid=true]:focus'))
  await wrong.waitFor()
  await page.getByText('Use at least 12 characters.').waitFor()
  assert.deepEqual(await fontsOf(page, 'h1'), ['Inter'])
  await assertAccessible(page)
})

/** Returns the fonts that the browser used for an element. */
async function fontsOf(page: Page, selector: string): Promise<string[]> {
  const devTools = await page.context().newCDPSession(page)
  for (const domain of ['DOM', 'CSS'] as const) await devTools.send(`${domain}.enable`)
  const { root } = await devTools.send('DOM.getDocument')
  const { nodeId } = await devTools.send('DOM.querySelector', { nodeId: root.nodeId, selector })
  const { fonts } = await devTools.send('CSS.getPlatformFontsForNode', { nodeId })
  return fonts.map(({ familyName }) => familyName)
}
