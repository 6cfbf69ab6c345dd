import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDemo, phone, picture, seriousIssues } from './support/demo.ts'

const demo = await openDemo()

test('the inbox is usable without eyes or a mouse, in both schemes and on a phone', async () => {
  for (const [name, options] of Object.entries({
    light: {},
    dark: { colorScheme: 'dark' as const },
    phone: { viewport: phone },
  })) {
    const { page, problems } = await demo.open('inbox', options)
    await page.getByRole('link', { name: /Marina Azevedo/ }).waitFor()
    await picture(page, `inbox-${name}`)
    assert.deepEqual(await seriousIssues(page), [])
    await page.getByRole('link', { name: /João Pedro/ }).click()
    await page.getByText('prazo de entrega').last().waitFor()
    await picture(page, `inbox-open-${name}`)
    assert.deepEqual(await seriousIssues(page), [])
    await page.keyboard.press('z')
    await page.getByRole('menu').waitFor()
    await picture(page, `inbox-snooze-${name}`)
    assert.deepEqual(await seriousIssues(page), [])
    assert.deepEqual(problems, [])
  }
})
