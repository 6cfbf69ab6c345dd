import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { assertAccessible } from './support/accessibility.ts'
import { pickItem } from './support/actions.ts'
import { type Member, newMember, password, sharedDemo, signIn } from './support/demo.ts'

const demo = await sharedDemo()
/** Creates a member, on their profile page. */
async function newcomer(name: string): Promise<Member> {
  const member = await newMember(demo, name)
  await member.page.goto(`${demo.url}/w/${demo.workspaceId}/profile`)
  return member
}

test('two-factor authentication is enabled, required, passed with a recovery code, and disabled', async () => {
  const { page, email } = await newcomer('Dora')
  await page.getByRole('button', { name: 'Turn on' }).click()
  const ask = page.getByRole('dialog', { name: 'Confirm your password' })
  await ask.getByLabel('Current password').fill('not the right one')
  await ask.getByRole('button', { name: 'Continue' }).click()
  await ask.getByText('Incorrect').waitFor()
  await assertAccessible(page)
  await ask.getByLabel('Current password').fill(password)
  await page.keyboard.press('Enter')
  const panel = page.getByRole('dialog', { name: 'Two-factor authentication' })
  const secret = Secret.fromBase32(await panel.getByRole('textbox', { name: 'Setup key' }).inputValue())
  await panel.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor()
  await assertAccessible(page)
  await panel.getByRole('textbox', { name: 'Code', exact: true }).fill(new TOTP({ secret }).generate())
  await panel.getByRole('button', { name: 'Turn on' }).click()
  const shown = page.getByRole('dialog', { name: 'Recovery codes' })
  await shown.getByRole('listitem').first().waitFor()
  const codes = await shown.getByRole('listitem').allInnerTexts()
  await assertAccessible(page)
  await shown.getByRole('button', { name: 'I saved them' }).click()

  await pickItem(page.getByRole('button', { name: 'You: Dora' }), { name: 'Sign out' })
  await signIn(page, email)
  await page.getByRole('heading', { name: 'Enter your code' }).waitFor()
  await assertAccessible(page)
  await page.getByLabel('Code').fill('000000')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Code').fill(codes[0] ?? '')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Main' }).waitFor()

  await page.goto(`${demo.url}/w/${demo.workspaceId}/profile`)
  await page.getByRole('button', { name: 'Turn off' }).click()
  const off = page.getByRole('dialog', { name: 'Two-factor authentication' })
  await off.getByLabel('Current password').fill(password)
  await off.getByRole('textbox', { name: 'Code' }).fill(codes[1] ?? '')
  await off.getByRole('button', { name: 'Turn off' }).click()
  await page.getByRole('button', { name: 'Turn on' }).waitFor()
})
