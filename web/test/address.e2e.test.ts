import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()

/** Presses several things before the page can draw what the first of them does. */
async function pressAtOnce(page: Page, ...names: string[]): Promise<void> {
  for (const name of names) await page.getByRole('button', { name, exact: true }).waitFor()
  const all = JSON.stringify(names.map((name) => `button[aria-label="${name}"]`))
  await page.evaluate(`${all}.map((one) => document.querySelector(one)).forEach((button) => button.click())`)
}

test('filters of leads that are taken away one right after the other are all away', async () => {
  const { page } = await demo.open(
    'leads?status=new,contacted&where=email.empty;phone.notEmpty;name.contains.o&match=any',
  )
  await pressAtOnce(page, 'Remove: E-mail is empty', 'Remove: Phone is not empty')
  const name = page.getByRole('button', { name: 'Name contains “o”', exact: true })
  await name.waitFor()
  await page.waitForURL(({ search }) => search.includes('name.contains.o') && !/email|phone/.test(search))
  await page.getByRole('button', { name: 'Any applies' }).click()
  await page.getByRole('button', { name: 'All apply' }).waitFor()
  assert.doesNotMatch(page.url(), /match/)
  await pressAtOnce(page, 'Remove: Name contains “o”', 'Remove: Status is New or Contacted')
  await page.waitForURL(({ search }) => search === '')
})

test('filters of conversations that are taken away one right after the other are all away', async () => {
  const { page } = await demo.open('inbox?unread=true&unanswered=true&owner=human')
  await pressAtOnce(page, 'Remove filter: Unread', 'Remove filter: Waiting for an answer')
  await page.waitForURL(({ search }) => search === '?owner=human')
})
