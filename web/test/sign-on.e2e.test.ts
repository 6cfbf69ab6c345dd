import { test } from 'node:test'
import { startProvider } from '../../server/test/auth/sso/fake-provider.ts'
import { assertAccessible } from './support/accessibility.ts'
import { visitOf } from './support/browser.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()

test('an operator adds a provider and tests it; a colleague then gets in with one click', async () => {
  const { page } = await demo.open('settings/sso')
  await page.getByRole('button', { name: 'Add provider' }).first().click()
  const panel = page.getByRole('dialog', { name: 'Add provider' })
  const [redirectUri, logoutUri] = [
    await panel.getByLabel('Redirect URI').first().inputValue(),
    await panel.getByLabel('Back-channel logout URI').first().inputValue(),
  ]
  const { issuer, state } = await startProvider([redirectUri], logoutUri)
  state.account = {
    sub: 'bea',
    name: 'Bea Reis',
    email: 'bea@sso.example.com',
    email_verified: true,
    groups: ['sales'],
  }
  await panel.getByLabel('Name').fill('Acme')
  await panel.getByLabel('Issuer URL').fill(issuer)
  await panel.getByLabel('Client ID').fill('parley')
  await panel.getByLabel('Client secret').fill('secret of the client that the provider knows')
  await panel.getByLabel('Claim with groups').fill('groups')
  await panel.getByRole('button', { name: 'Add role' }).click()
  await panel.getByLabel('Group', { exact: true }).fill('sales')
  await assertAccessible(page)
  await panel.getByRole('button', { name: 'Save' }).click()
  await panel.waitFor({ state: 'hidden' })

  await page.getByRole('button', { name: 'Test sign-in' }).click()
  await page.getByText('Last successful test').waitFor()
  await page.getByText('bea@sso.example.com with these groups: sales').waitFor()
  await assertAccessible(page)

  const visitor = await visitOf(demo.browser)
  await visitor.page.goto(`${demo.url}/sign-in`)
  await visitor.page.getByRole('button', { name: 'Continue with Acme' }).waitFor()
  await assertAccessible(visitor.page)
  await visitor.page.getByRole('button', { name: 'Continue with Acme' }).click()
  await visitor.page.getByRole('button', { name: 'You: Bea Reis' }).waitFor()
  await visitor.page.goto(`${demo.url}/profile`)
  await visitor.page.getByText('Single sign-on · Last active').waitFor()
  await visitor.page.getByRole('button', { name: 'Unlink Acme' }).waitFor()
  await assertAccessible(visitor.page)

  state.account = { ...state.account, sub: 'other', email: 'other@sso.example.com', groups: [] }
  await visitor.page.context().clearCookies()
  await visitor.page.goto(`${demo.url}/sign-in`)
  await visitor.page.getByRole('button', { name: 'Continue with Acme' }).click()
  await visitor.page.getByRole('alert').getByText('None of your groups has access here').waitFor()
  await assertAccessible(visitor.page)
  await demo.team('DELETE', `/identity-providers/${redirectUri.split('/').at(-2)}`)
})
