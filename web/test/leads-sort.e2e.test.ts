import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { waitUntil } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
const leads = `/workspaces/${demo.workspaceId}/leads`
const names = (page: Page) => page.locator('[data-row] button').allInnerTexts()
const asked = async (query: Record<string, string>) => {
  const { leads: found } = await demo.team('GET', `${leads}?${new URLSearchParams({ limit: '100', ...query })}`)
  return found.map(({ firstName, lastName }: { firstName: string; lastName: string | null }) =>
    lastName === null ? firstName : `${firstName} ${lastName}`,
  ) as string[]
}

/** Returns whether the rendered rows are the first of the expected ones. */
const shows = (page: Page, expected: readonly string[]) =>
  waitUntil(
    async () => (await names(page)).filter((name) => name !== ''),
    (seen) => seen.length > 0 && seen.every((name, n) => name === expected[n]),
  )

test('clicking a column header sorts, a second click reverses, and the address contains the order', async () => {
  const { page } = await demo.open('leads')
  const head = (name: string) => page.getByRole('columnheader', { name })
  await head('Name').getByRole('button', { name: 'Name' }).click()
  await shows(page, await asked({ sortBy: 'name', sortOrder: 'asc' }))
  assert.equal(await head('Name').getAttribute('aria-sort'), 'ascending')
  await head('Name').getByRole('button', { name: 'Name' }).click()
  await shows(page, await asked({ sortBy: 'name', sortOrder: 'desc' }))
  await head('Estimated value').getByRole('button', { name: 'Estimated value' }).click()
  await shows(page, await asked({ sortBy: 'estimatedValue', sortOrder: 'desc' }))
  await page.waitForURL(/sort=-estimatedValue/)
  await page.reload()
  await shows(page, await asked({ sortBy: 'estimatedValue', sortOrder: 'desc' }))
})

test('a condition is added by typing, reads as a sentence, is edited in place, and any of several may suffice', async () => {
  const { page } = await demo.open('leads')
  const count = async (query: Record<string, string>) => {
    const { total } = await demo.team('GET', `${leads}?${new URLSearchParams({ limit: '1', ...query })}`)
    await page
      .getByRole('status')
      .getByText(total === 1 ? '1 lead' : `${total} leads`, { exact: true })
      .waitFor()
  }
  const add = async (typed: string) => {
    await page.keyboard.press('f')
    await page.getByRole('combobox', { name: 'Add filter' }).fill(typed)
    await page.keyboard.press('Enter')
  }
  await page.locator('[data-row="0"]').getByRole('button').first().waitFor()
  await add('email')
  await page.getByRole('combobox', { name: 'Email' }).selectOption('is empty')
  await page.keyboard.press('Escape')
  await count({ where: 'email.empty' })
  await add('estim')
  const ends = page.getByRole('dialog', { name: 'Estimated value' })
  await ends.getByLabel('From').fill('R$ 1.000,00')
  await ends.getByText('Will be saved as 1,000').waitFor()
  await ends.getByLabel('To').fill('5k')
  await page.getByRole('button', { name: 'Estimated value is between 1,000 and 5,000', exact: true }).waitFor()
  await assertAccessible(page)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Match all' }).click()
  await count({ where: 'email.empty;estimatedValue.between.1000.5000', match: 'any' })
  await page.getByRole('button', { name: 'Email is empty', exact: true }).click()
  await page.getByRole('combobox', { name: 'Email' }).selectOption('contains')
  await page.getByRole('textbox', { name: 'Value' }).fill('@example')
  await page.keyboard.press('Escape')
  await count({ where: 'email.contains.@example;estimatedValue.between.1000.5000', match: 'any' })
  await page.getByRole('button', { name: 'Remove filter: Email contains “@example”' }).click()
  await count({ where: 'estimatedValue.between.1000.5000' })
})
