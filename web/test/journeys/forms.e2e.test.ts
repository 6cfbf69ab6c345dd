import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pickItem } from '../support/actions.ts'
import { phone, visitOf } from '../support/browser.ts'
import { sharedDemo } from '../support/demo.ts'

const demo = await sharedDemo()

test('a form is built with a live preview, published, submitted on a phone, and creates a lead', async () => {
  const { page } = await demo.open('forms')
  await page.getByRole('table').waitFor()
  await page.keyboard.press('c')
  await page.waitForURL(/\/forms\/new$/)
  const preview = page.frameLocator('iframe[title=Preview]')
  await preview.getByLabel('First name').waitFor()

  await pickItem(page.getByRole('button', { name: 'Add field' }), { name: 'Single choice' })
  await page.getByLabel('Label', { exact: true }).fill('Company size')
  assert.equal(await page.getByLabel('Key', { exact: true }).inputValue(), 'company_size')
  await page.getByLabel('Options').fill('1 to 10\nover 10')
  await preview.getByLabel('Company size').waitFor()
  await page.getByRole('button', { name: 'Edit Company size' }).focus()
  await page.keyboard.press('Alt+ArrowUp')
  await page.getByText('Company size moved to position 2').waitFor()
  await page
    .getByRole('listitem')
    .filter({ hasText: 'Phone' })
    .locator('[draggable]')
    .dragTo(page.getByRole('listitem').filter({ hasText: 'First name' }))
  await page.getByText('Phone moved to position 1').waitFor()
  await preview.locator('form > :nth-child(1)').filter({ hasText: 'Phone' }).waitFor()

  await page.getByLabel('Heading', { exact: true }).fill('Book a <b>visit</b>')
  await preview.getByRole('heading', { name: 'Book a <b>visit</b>' }).waitFor()
  await page.getByRole('radiogroup', { name: 'Preview' }).getByText('Thank-you message').click()
  await preview.getByText('Thank you!').waitFor()
  await page.getByRole('radiogroup', { name: 'Preview' }).getByText('Form').click()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Visits')
  await page.getByLabel('Address', { exact: true }).fill('book-a-visit')
  await page.getByRole('switch', { name: 'Open to the public' }).check()
  await page.keyboard.press('Control+s')
  await page.getByRole('heading', { name: 'Visits' }).waitFor()
  await page.waitForURL(/\/forms\/[0-9a-f-]{36}$/)

  await page.getByRole('radiogroup', { name: 'View' }).getByText('Share').click()
  const url = await page.getByRole('textbox', { name: 'Link' }).inputValue()
  assert.equal(url, `${demo.url}/f/book-a-visit`)
  await page.getByRole('img', { name: 'QR code for Visits' }).waitFor()

  const visitor = (await visitOf(demo.browser, { viewport: phone })).page
  await visitor.goto(`${url}?utm_source=flyer`)
  await visitor.getByLabel('First name').fill('Marina')
  await visitor.getByLabel('Phone').fill('(11) 98765-4321')
  await visitor.getByLabel('Company size').selectOption('over 10')
  await page.getByRole('radiogroup', { name: 'View' }).getByText('Submissions').click()
  await page.getByText('No submissions yet').waitFor()
  // The server treats submissions within two seconds as automated.
  await visitor.waitForFunction(() => performance.now() > 2500)
  await visitor.getByRole('button', { name: 'Send' }).click()
  await visitor.getByText('Thank you!').waitFor()
  await page.getByRole('row', { name: /Marina/ }).waitFor()
  assert.match((await page.getByRole('link', { name: 'Marina' }).getAttribute('href')) ?? '', /\/leads\?lead=/)
  const { body } = await demo.call('GET', '/api/v1/leads?search=Marina', undefined, {
    authorization: `Bearer ${demo.apiKey}`,
  })
  assert.equal(body.data[0].firstName, 'Marina')
})
