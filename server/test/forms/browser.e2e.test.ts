import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { chromium } from 'playwright-core'
import { formWorld, nameField } from '../support/form-world.ts'
import { pick } from '../support/pick.ts'

const w = await formWorld()
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
})
after(() => browser.close())

test('a person on a phone without scripts fills in a form, corrects a mistake and sees the thank-you page', async () => {
  const form = await w.newForm({
    title: 'Book a visit',
    thankYou: 'See you soon!',
    fields: [
      nameField,
      { key: 'phone', label: 'Phone', type: 'phone', required: true },
      { key: 'city', label: 'City', type: 'select', required: true, options: ['Recife', 'Natal'] },
      { key: 'interests', label: 'Interests', type: 'multiselect', required: false, options: ['Kitchens', 'Gardens'] },
      { key: 'budget', label: 'Budget', type: 'number', required: false },
      { key: 'day', label: 'Day', type: 'date', required: false },
      { key: 'consent', label: 'Call me', type: 'boolean', required: true },
    ],
  })
  const origin = await w.app.listen({ host: '127.0.0.1', port: 0 })
  const page = await browser.newPage({ viewport: { width: 390, height: 844 }, javaScriptEnabled: false })
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  await page.goto(`${origin}/f/${form.slug}?k_plan=gold&utm_source=mail`)

  assert.deepEqual(await tooSmallOrWide(page), [])
  await page.getByLabel('Your name').fill('Marina')
  await page.getByLabel('Phone').fill('123')
  await page.getByLabel('City').selectOption('Recife')
  await page.getByLabel('Gardens').check()
  await page.getByLabel('Budget').fill('12,5')
  await page.getByLabel('Day').fill('2026-04-01')
  await page.getByLabel('Call me').check()
  assert.equal(
    await page
      .locator('input[name=homepage]')
      .boundingBox()
      .then((box) => (box?.x ?? 0) < 0),
    true,
  )
  w.clock.advance(5_000)
  await page.getByRole('button').click()

  assert.match(await page.title(), /^Error: /)
  await page.getByRole('link', { name: 'Phone' }).click()
  assert.equal(await page.getByLabel('Phone').inputValue(), '123')
  assert.equal(await page.getByLabel('Gardens').isChecked(), true)
  await page.getByLabel('Phone').fill('(11) 98765-4321')
  w.clock.advance(5_000)
  await page.getByRole('button').click()

  assert.equal(page.url(), `${origin}/f/${form.slug}/thanks`)
  assert.equal(await page.getByText('See you soon!').isVisible(), true)
  assert.ok(requests.every((url) => url.startsWith(origin) || url.startsWith('data:')))
  const [lead] = await w.leads()
  assert.deepEqual([lead?.firstName, lead?.phone], ['Marina', '5511987654321'])
  assert.deepEqual(pick(lead?.customFields, 'key', 'value'), [
    ['city', 'Recife'],
    ['interests', 'Gardens'],
    ['budget', '12.5'],
    ['day', '2026-04-01'],
    ['consent', true],
    ['k_plan', 'gold'],
    ['k_utm_source', 'mail'],
  ])
})

/** What phones would zoom into, what thumbs would miss, and whether the page scrolls sideways. */
function tooSmallOrWide(page: Awaited<ReturnType<typeof browser.newPage>>): Promise<string[]> {
  // As text, since these tests are typed for a server.
  return page.evaluate(`
    const controls = document.querySelectorAll('input:not([type=hidden], [type=checkbox], [tabindex]), select, textarea, button, .choice')
    const isSmall = (one) => parseFloat(getComputedStyle(one).fontSize) < 16 || one.getBoundingClientRect().height < 24
      || (!one.matches('.choice') && one.getBoundingClientRect().height < 44)
    const small = [...controls].filter(isSmall).map((one) => one.name || one.textContent)
    controls.length < 6 || document.documentElement.scrollWidth > 390 ? [...small, 'page'] : small`)
}
