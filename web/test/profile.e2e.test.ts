import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { pickItem } from './support/actions.ts'
import { visitOf } from './support/browser.ts'
import { type Member, newMember, password, sharedDemo, signedOut, signIn } from './support/demo.ts'

const demo = await sharedDemo()
/** Somebody new in the workspace, on the page of their profile. */
async function newcomer(name: string): Promise<Member> {
  const member = await newMember(demo, name)
  await member.page.goto(`${demo.url}/w/${demo.workspaceId}/profile`)
  return member
}

/** The page of another browser of theirs. */
async function signedInElsewhere({ email }: Member): Promise<Page> {
  const { page } = await visitOf(demo.browser)
  await page.goto(`${demo.url}/sign-in`)
  await signIn(page, email)
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  return page
}

test('somebody changes their name and password; the browser stays signed in, others do not', async () => {
  const caio = await newcomer('Caio')
  const { page } = caio
  const other = await signedInElsewhere(caio)

  await page.getByLabel('Name').fill('Caio Prado')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'You: Caio Prado' }).waitFor()

  await page.getByLabel('Current password').fill('not the right one')
  await page.getByLabel('New password').fill('other plain words together')
  await page.getByRole('button', { name: 'Change the password' }).click()
  await page.getByText('is not right').waitFor()
  await page.getByLabel('Current password').fill(password)
  await page.getByRole('button', { name: 'Change the password' }).click()
  await page.getByText('Your password is changed. Other browsers are signed out.').waitFor()
  await signedOut(other)
  await page.getByLabel('Name').fill('Caio')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'You: Caio', exact: true }).waitFor()
})

test('two-factor sign-in is turned on, asked for, passed with a recovery code, and turned off', async () => {
  const { page, email } = await newcomer('Dora')
  await page.getByRole('button', { name: 'Turn it on' }).click()
  const ask = page.getByRole('dialog', { name: 'Is it you?' })
  await ask.getByLabel('Current password').fill('not the right one')
  await ask.getByRole('button', { name: 'Continue' }).click()
  await ask.getByText('is not right').waitFor()
  await assertAccessible(page)
  await ask.getByLabel('Current password').fill(password)
  await page.keyboard.press('Enter')
  const panel = page.getByRole('dialog', { name: 'Turn it on' })
  const secret = Secret.fromBase32(await panel.getByRole('textbox', { name: /^Secret/ }).inputValue())
  await panel.getByRole('img', { name: 'QR code for the authenticator' }).waitFor()
  await assertAccessible(page)
  await panel.getByRole('textbox', { name: 'Code', exact: true }).fill(new TOTP({ secret }).generate())
  await panel.getByRole('button', { name: 'Turn it on' }).click()
  const shown = page.getByRole('dialog', { name: 'Your recovery codes' })
  await shown.getByRole('listitem').first().waitFor()
  const codes = await shown.getByRole('listitem').allInnerTexts()
  await assertAccessible(page)
  await shown.getByRole('button', { name: 'I have saved them' }).click()

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
  await page.getByRole('button', { name: 'Turn it off' }).click()
  const off = page.getByRole('dialog', { name: 'Turn it off' })
  await off.getByLabel('Current password').fill(password)
  await off.getByRole('textbox', { name: 'Code' }).fill(codes[1] ?? '')
  await off.getByRole('button', { name: 'Turn it off' }).click()
  await page.getByRole('button', { name: 'Turn it on' }).waitFor()
})

test('one session elsewhere is ended from the profile, and all others at once', async () => {
  const enzo = await newcomer('Enzo')
  const { page } = enzo
  const first = await signedInElsewhere(enzo)
  await page.reload()
  await page.getByRole('button', { name: /^End the session on/ }).click()
  await page.getByRole('button', { name: /^End the session on/ }).waitFor({ state: 'detached' })
  await signedOut(first)
  const others = [await signedInElsewhere(enzo), await signedInElsewhere(enzo)]
  await page.reload()
  await page.getByRole('button', { name: 'End all others' }).click()
  await page.getByText('2 sessions ended').waitFor()
  await page.getByRole('button', { name: 'End all others' }).waitFor({ state: 'detached' })
  for (const other of others) await signedOut(other)
})
