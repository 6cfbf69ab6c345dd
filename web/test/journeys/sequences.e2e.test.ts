import { test } from 'node:test'
import { assertAccessible } from '../support/accessibility.ts'
import { sharedDemo } from '../support/demo.ts'

const demo = await sharedDemo()

test('an admin writes a sequence, switches it on, adds a lead and stops it', async () => {
  const { page } = await demo.open('sequences/new')
  await page.getByLabel('Name').fill('New lead')
  await page.getByText('Won', { exact: true }).first().waitFor()
  const step = page.getByRole('list', { name: 'Steps' }).getByRole('listitem').first()
  await step.getByRole('combobox', { name: 'Template' }).click()
  await page.getByRole('option').first().click()
  for (const value of await step.getByRole('textbox', { name: /^Value/ }).all())
    await value.fill('{{contact.name|you}}')
  await page.getByRole('button', { name: 'Add step' }).click()
  const second = page.getByRole('list', { name: 'Steps' }).getByRole('listitem').nth(1)
  await second.getByText('Text', { exact: true }).click()
  await second.getByLabel('Text', { exact: true }).last().fill('Did you see our message, {{contact.first_name|there}}?')
  // Long enough after the start that no step is due while the test looks.
  await step.getByRole('textbox', { name: 'Time after the start' }).first().fill('90')
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('heading', { level: 1, name: 'New lead' }).waitFor()
  const on = page.waitForResponse((answer) => answer.request().method() === 'PATCH' && answer.ok())
  await page.getByRole('switch', { name: 'On' }).click({ force: true })
  await on
  const { lead } = await demo.team('POST', `/workspaces/${demo.workspaceId}/leads`, {
    ...{ firstName: 'Sequence', phone: '+5581912340007' },
  })
  await page.goto(`${demo.url}/w/${demo.workspaceId}/leads/${lead.id}`)
  await page.getByRole('button', { name: 'Add to sequence' }).click()
  await page.getByRole('menuitem', { name: 'New lead' }).click()
  await page.getByText('Step 1 of 2').waitFor()
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Stop “New lead”' }).click()
  await page.getByText('Stopped by a person').waitFor()
  await page.goto(`${demo.url}/w/${demo.workspaceId}/sequences`)
  await page.getByRole('button', { name: 'New lead' }).click()
  await page.getByRole('radio', { name: 'Results' }).check({ force: true })
  await page.getByRole('table', { name: 'Why it ended' }).getByText('Stopped by a person').waitFor()
  await assertAccessible(page)
})
