import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { thread } from './support/composing.ts'
import { picture, sharedDemo, visitOf } from './support/demo.ts'

const demo = await sharedDemo()
const place = `/workspaces/${demo.workspaceId}`

/** A colleague, in a browser of their own. */
async function colleague(name: string): Promise<Page> {
  const { url } = await demo.team('POST', `${place}/invitations`, { email: 'bea@example.com', role: 'member' })
  const { page } = await visitOf(demo.browser, {})
  await page.goto(url)
  await page.getByLabel('Your name').fill(name)
  await page.getByLabel('Password').fill('four plain words together')
  await page.getByRole('button', { name: 'Join' }).click()
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  return page
}

test('a colleague who says that they are away is shown so where one assigns, until they are back', async () => {
  const hers = await colleague('Bea Costa')
  const say = async (what: string, told: RegExp) => {
    await hers.getByRole('button', { name: /^You: / }).click()
    await hers.getByRole('menuitem', { name: what }).click()
    await hers.getByText(told).waitFor()
  }
  await say('I am away', /^Colleagues see that you are away/)
  const { conversations } = await demo.team('GET', `${place}/inbox/conversations?limit=1`)
  const { page, problems } = await demo.open(`inbox/${conversations[0].id}`)
  await thread(page).getByRole('button', { name: 'Assign', exact: true }).click()
  const her = page.getByRole('dialog', { name: 'Assign' }).getByRole('option', { name: /^Bea Costa/ })
  await her.getByText('Away', { exact: true }).waitFor()
  await picture(page, 'assign-away')
  await say('I am here again', /^Colleagues see that you are here/)
  await her.getByText('Away', { exact: true }).waitFor({ state: 'detached' })
  assert.deepEqual(problems, [])
})
