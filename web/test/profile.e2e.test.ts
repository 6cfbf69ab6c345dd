import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import { issuesInEachLook, openDemo, picture, seriousIssues, signedOut, visitOf } from './support/demo.ts'

const demo = await openDemo()
const password = 'four plain words together'

/** A person of the workspace in a browser of their own, signed in by their invitation. */
async function newcomer(name: string): Promise<{ page: Page; email: string; problems: string[] }> {
  const email = `${name.toLowerCase()}@example.com`
  const invitation = { email, role: 'member' }
  const { url } = await demo.team('POST', `/workspaces/${demo.workspaceId}/invitations`, invitation)
  const { page, problems } = await visitOf(demo.browser, {})
  await page.goto(url)
  await page.getByLabel('Your name').fill(name)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Join' }).click()
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  await page.getByRole('button', { name: `You: ${name}` }).click()
  await page.getByRole('menuitem', { name: 'Profile' }).click()
  await page.getByRole('heading', { name: 'Profile' }).waitFor()
  return { page, email, problems }
}

test('somebody changes their name and password; the browser stays signed in, others do not', async () => {
  const { page, email, problems } = await newcomer('Caio')
  const { page: other } = await visitOf(demo.browser, {})
  await signIn(other, email, password)
  await other.getByRole('navigation', { name: 'Main' }).waitFor()

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
  assert.deepEqual(problems, [])
})

test('two-factor sign-in is turned on, asked for, passed with a recovery code too, and turned off', async () => {
  const { page, email, problems } = await newcomer('Dora')
  await page.getByRole('button', { name: 'Turn it on' }).click()
  const ask = page.getByRole('dialog', { name: 'Is it you?' })
  await ask.getByLabel('Current password').fill('not the right one')
  await ask.getByRole('button', { name: 'Continue' }).click()
  await ask.getByText('is not right').waitFor()
  await picture(page, 'profile-ask')
  assert.deepEqual(await seriousIssues(page), [])
  await ask.getByLabel('Current password').fill(password)
  await page.keyboard.press('Enter')
  const panel = page.getByRole('dialog', { name: 'Turn it on' })
  const secret = Secret.fromBase32(await panel.getByRole('textbox', { name: /^Secret/ }).inputValue())
  await panel.getByRole('img', { name: 'QR code for the authenticator' }).waitFor()
  await picture(page, 'profile-qr')
  assert.deepEqual(await seriousIssues(page), [])
  const totp = new TOTP({ secret })
  await panel.getByRole('textbox', { name: 'Code', exact: true }).fill(totp.generate())
  await panel.getByRole('button', { name: 'Turn it on' }).click()
  const shown = page.getByRole('dialog', { name: 'Your recovery codes' })
  await shown.getByRole('listitem').first().waitFor()
  const codes = await shown.getByRole('listitem').allInnerTexts()
  assert.equal(codes.length, 10)
  await picture(page, 'profile-recovery')
  assert.deepEqual(await seriousIssues(page), [])
  await shown.getByRole('button', { name: 'I have saved them' }).click()
  await page.getByRole('button', { name: 'Turn it off' }).waitFor()

  await page.getByRole('button', { name: 'You: Dora' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.waitForURL(/\/sign-in/)
  await signIn(page, email, password)
  await page.getByRole('heading', { name: 'Enter your code' }).waitFor()
  await picture(page, 'sign-in-code-light')
  assert.deepEqual(await seriousIssues(page), [])
  await page.getByLabel('Code').fill('000000')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').waitFor()
  // The code that turned it on works only once, and the next is not there yet.
  await page.getByLabel('Code').fill(codes[0] ?? '')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Main' }).waitFor()

  await page.goto(`${demo.url}/w/${demo.workspaceId}/profile`)
  await page.getByRole('button', { name: 'Turn it off' }).click()
  const off = page.getByRole('dialog', { name: 'Turn it off' })
  await off.getByLabel('Current password').fill(password)
  await off.getByRole('textbox', { name: 'Code' }).fill('000000')
  await off.getByRole('button', { name: 'Turn it off' }).click()
  await off.getByText('is not right').waitFor()
  await off.getByRole('textbox', { name: 'Code' }).fill(codes[1] ?? '')
  await off.getByRole('button', { name: 'Turn it off' }).click()
  await page.getByRole('button', { name: 'Turn it on' }).waitFor()
  assert.deepEqual(problems, [])
})

test('a session elsewhere is ended from the profile', async () => {
  const { page, email } = await newcomer('Enzo')
  const { page: other } = await visitOf(demo.browser, {})
  await signIn(other, email, password)
  await other.getByRole('navigation', { name: 'Main' }).waitFor()
  await page.reload()
  await page.getByRole('button', { name: /^End the session on/ }).click()
  await page.getByRole('button', { name: /^End the session on/ }).waitFor({ state: 'detached' })
  await signedOut(other)
})

test('all other sessions are ended at once', async () => {
  const { page, email, problems } = await newcomer('Elis')
  const others = [(await visitOf(demo.browser, {})).page, (await visitOf(demo.browser, {})).page]
  for (const other of others) {
    await signIn(other, email, password)
    await other.getByRole('navigation', { name: 'Main' }).waitFor()
  }
  await page.reload()
  await page.getByRole('button', { name: 'End all others' }).click()
  await page.getByText('2 sessions ended').waitFor()
  await page.getByRole('button', { name: 'End all others' }).waitFor({ state: 'detached' })
  for (const other of others) await signedOut(other)
  assert.deepEqual(problems, [])
})

test('who has no password is told to set one before the second factor', async () => {
  const { page } = await demo.open('profile')
  await page.getByText('Set a password first').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Turn it on' }).isDisabled(), true)
})

test('language, appearance and Enter are kept in the browser', async () => {
  const { page } = await newcomer('Fabi')
  await page.getByRole('radio', { name: 'Dark' }).check()
  assert.equal(await page.locator('html').getAttribute('data-mantine-color-scheme'), 'dark')
  await page.getByRole('switch', { name: 'Enter sends a message' }).uncheck({ force: true })
  await page.getByRole('combobox', { name: 'Language' }).click()
  await page.getByRole('option', { name: 'Español' }).click()
  await page.getByRole('heading', { name: 'Perfil' }).waitFor()
  assert.equal(await page.getByRole('switch', { name: 'Enter envía el mensaje' }).isChecked(), false)
  assert.equal(await page.locator('html').getAttribute('data-mantine-color-scheme'), 'dark')
})

test('the profile is usable without eyes or a mouse, in both schemes and on a phone', async () => {
  const { page, problems } = await demo.open('profile')
  await page.getByRole('list', { name: 'Where you are signed in' }).waitFor()
  assert.deepEqual(await issuesInEachLook(page, 'profile'), [])
  assert.deepEqual(problems, [])
})

test('the pages for signing in and joining are usable, in both schemes and on a phone', async () => {
  const invitation = { email: 'gil@example.com', role: 'admin' }
  const { url } = await demo.team('POST', `/workspaces/${demo.workspaceId}/invitations`, invitation)
  const { page, problems } = await visitOf(demo.browser, {})
  const pages = { 'sign-in': `${demo.url}/sign-in`, invite: url, 'link-over': `${demo.url}/sign-in/nothing` }
  for (const [name, address] of Object.entries(pages)) {
    await page.goto(address)
    await page.getByRole('heading').first().waitFor()
    assert.deepEqual(await issuesInEachLook(page, name), [])
  }
  assert.deepEqual(problems, [])
})

async function signIn(page: Page, email: string, word: string): Promise<void> {
  await page.goto(`${demo.url}/sign-in`)
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(word)
  await page.getByRole('button', { name: 'Sign in' }).click()
}
