import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pickItem } from '../support/actions.ts'
import { visitOf } from '../support/browser.ts'
import { newMember, sharedDemo, signIn } from '../support/demo.ts'

const demo = await sharedDemo()

test('one signs in by the link of the first start and stands in the workspace', async () => {
  const { page } = await demo.open()
  await page.waitForURL(new RegExp(`/w/${demo.workspaceId}/home$`))
})

test('a stranger who follows a link into the app comes to it after signing in, and signs out again', async () => {
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
