import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issuesInEachLook, openDemo } from './support/demo.ts'

const demo = await openDemo()

test('what agents should know is written down, and cleared', async () => {
  const { page } = await demo.open('settings/agents')
  const word = page.getByLabel('For every agent of this workspace')
  const save = page.getByRole('region', { name: 'What agents should know' }).getByRole('button', { name: 'Save' })
  const kept = async () => (await demo.team('GET', `/workspaces/${demo.workspaceId}`)).workspace.agentWord
  await word.fill('You speak for a shoe shop.')
  await save.click()
  await page.getByText('Saved', { exact: true }).waitFor()
  assert.equal(await kept(), 'You speak for a shoe shop.')
  await page.reload()
  await word.waitFor()
  assert.equal(await word.inputValue(), 'You speak for a shoe shop.')
  await word.fill(' ')
  await save.click()
  await page.getByText('Saved', { exact: true }).waitFor()
  assert.equal(await kept(), null)
})

test('business hours are kept: an office week first, times of one day changed, an overlap said beside its day', async () => {
  const { page, problems } = await demo.open('settings/hours')
  const isKept = page.getByRole('switch', { name: /Tell agents/ })
  const save = page.getByRole('region', { name: 'When people are there' }).getByRole('button', { name: 'Save' })
  await isKept.check({ force: true })
  await page.getByRole('combobox', { name: 'Time zone' }).fill('Sao_Paulo')
  await page.getByRole('option', { name: 'America/Sao_Paulo' }).click()
  await page.getByLabel('Monday: end of time 1').fill('12:00')
  await page.getByRole('button', { name: 'Monday: add a time' }).click()
  await page.getByText('Fill in start and end.').waitFor()
  await page.getByLabel('Monday: start of time 2').fill('11:00')
  await page.getByLabel('Monday: end of time 2').fill('00:00')
  await page.getByText('These times overlap.').waitFor()
  assert.equal(await save.isDisabled(), true)
  await page.getByLabel('Monday: start of time 2').fill('13:00')
  await page.getByRole('button', { name: 'Friday: remove time 1' }).click()
  await page.getByRole('group', { name: 'Friday' }).getByText('Nobody').waitFor()
  assert.deepEqual(await issuesInEachLook(page, 'settings-hours-kept'), [])
  await save.click()
  await page.getByText('Saved', { exact: true }).waitFor()

  await page.reload()
  const end = page.getByLabel('Monday: end of time 2')
  await end.waitFor()
  assert.equal(await end.inputValue(), '00:00')
  const { workspace } = await demo.team('GET', `/workspaces/${demo.workspaceId}`)
  const { timeZone, week } = workspace.hours
  assert.equal(timeZone, 'America/Sao_Paulo')
  const monday = [
    { from: '09:00', to: '12:00' },
    { from: '13:00', to: '24:00' },
  ]
  assert.deepEqual([week.monday, week.tuesday, week.friday], [monday, [{ from: '09:00', to: '18:00' }], []])
  await isKept.uncheck({ force: true })
  await save.click()
  await page.getByText('Saved', { exact: true }).waitFor()
  assert.equal((await demo.team('GET', `/workspaces/${demo.workspaceId}`)).workspace.hours, null)
  assert.deepEqual(problems, [])
})
