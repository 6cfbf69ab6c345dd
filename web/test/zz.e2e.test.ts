import { test } from 'node:test'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()

test('look at automation', async () => {
  const { page } = await demo.open('settings/automation', { isKept: true })
  await page.getByRole('button', { name: 'New rule' }).waitFor()
  await page.screenshot({ path: '/tmp/auto-1.png' })
  await page.getByRole('button', { name: 'Prioritize questions about prices' }).click()
  await page.getByRole('button', { name: 'Add condition' }).waitFor()
  await page.screenshot({ path: '/tmp/auto-2.png', fullPage: true })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('switch').first().waitFor({ state: 'attached' })
  await page.screenshot({ path: '/tmp/auto-3.png' })
  await page.setViewportSize({ width: 390, height: 800 })
  await page.screenshot({ path: '/tmp/auto-4.png' })
  await page
    .getByRole('button', { name: /Prioritize questions/ })
    .first()
    .click()
  await page.getByRole('tab', { name: 'Try' }).click()
  await page.getByRole('button', { name: 'Try it' }).click()
  await page.getByRole('status').first().waitFor()
  await page.screenshot({ path: '/tmp/auto-5.png' })
  await page.getByRole('tab', { name: 'Rule' }).click()
  await page.screenshot({ path: '/tmp/auto-6.png' })
})
