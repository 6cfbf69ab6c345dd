import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible, fitsPhone } from './support/accessibility.ts'
import { waitUntil } from './support/composing.ts'
import { newMember, openDemo } from './support/demo.ts'

const demo = await openDemo()
const sources = `/workspaces/${demo.workspaceId}/lead-sources`

/** Waits until the newest request of the only source is no longer waiting. */
async function processed(): Promise<void> {
  const { sources: found } = await demo.team('GET', sources)
  const newest = async () => (await demo.team('GET', `${sources}/${found[0].id}/requests`)).requests[0]
  await waitUntil(newest, ({ status }) => status !== 'waiting')
}

test('a source is created, its URL makes a lead, and a failed request is corrected and tried again', async () => {
  const { page } = await demo.open('settings/sources')
  await page.getByText('No lead sources yet').waitFor()
  await page.getByRole('button', { name: 'Add source' }).first().click()
  const panel = page.getByRole('dialog')
  await panel.getByRole('textbox', { name: 'Name' }).fill('Landing page')
  await panel.getByRole('combobox', { name: 'How the sender proves who it is' }).click()
  await page.getByRole('option', { name: 'Secret in the URL' }).click()
  await assertAccessible(page)
  await panel.getByRole('button', { name: 'Save' }).click()
  const url = await panel.getByRole('textbox', { name: 'URL', exact: true }).inputValue()
  await panel.getByRole('button', { name: 'Copy: URL' }).waitFor()
  await panel.getByRole('button', { name: 'Cancel' }).click()
  const post = async (body: object) => {
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) })
    assert.equal(answer.status, 200, await answer.text())
    await processed()
  }

  await post({ name: 'Clara Dias', phone: '+5581991230001' })
  await page.getByRole('button', { name: 'Requests of Landing page' }).click()
  const requests = page.getByRole('dialog', { name: 'Requests of Landing page' })
  await requests.getByText('Lead created').waitFor()
  await requests.getByRole('link', { name: 'Open lead' }).waitFor()
  await assertAccessible(page)
  await page.keyboard.press('Escape')
  await requests.waitFor({ state: 'detached' })

  await post({ name: 'Davi Melo', tel: '+5581991230002' })
  await page.getByRole('button', { name: 'Requests of Landing page' }).click()
  await requests.getByText('No lead was created').waitFor()
  await requests.getByText('This request has no value for the field by which leads are found.').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Landing page', exact: true }).click()
  const path = panel.getByRole('textbox', { name: 'Path 2' })
  await path.fill('tel[')
  await panel.getByRole('button', { name: 'Save' }).click()
  await panel
    .getByText(/such as contact\.phones\[0\]\.number/)
    .last()
    .waitFor()
  await path.fill('tel')
  await panel.getByRole('button', { name: 'Save' }).click()
  await panel.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Requests of Landing page' }).click()
  await requests.getByRole('button', { name: 'Try again' }).click()
  await processed()
  await requests.getByRole('link', { name: 'Open lead' }).nth(1).waitFor()
  await requests.getByRole('link', { name: 'Open lead' }).first().click()
  await page.getByRole('heading', { name: 'Davi Melo' }).waitFor()
})

test('a source that is off takes nothing, and a deleted one is gone; members do not see sources', async () => {
  const { page } = await demo.open('settings/sources')
  const { sources: found } = await demo.team('GET', sources)
  await page.getByRole('button', { name: 'Landing page', exact: true }).click()
  const panel = page.getByRole('dialog', { name: 'Landing page' })
  await panel.getByRole('switch', { name: 'Takes leads' }).uncheck()
  await panel.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('cell', { name: 'Off', exact: true }).waitFor()
  assert.equal((await fetch(found[0].url, { method: 'POST', body: '{}' })).status, 404)
  await fitsPhone(page)
  await page.getByRole('button', { name: 'Landing page', exact: true }).click()
  await panel.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog', { name: 'Delete Landing page?' }).getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No lead sources yet').waitFor()

  const { page: theirs } = await newMember(demo, 'Ugo Braz')
  await theirs.goto(`${demo.url}/w/${demo.workspaceId}/settings/satisfaction`)
  await theirs.getByRole('switch', { name: 'Ask how satisfied customers are' }).waitFor()
  assert.equal(await theirs.getByRole('link', { name: 'Lead sources' }).count(), 0)
})
