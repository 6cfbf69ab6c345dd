import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible } from './support/accessibility.ts'
import { newWriter, thread, waitUntil } from './support/composing.ts'
import { newMember, openDemo } from './support/demo.ts'

// Its own demo: rules decide about the customers of every test.
const demo = await openDemo()
const path = `/workspaces/${demo.workspaceId}`
const conversation = async (id: string) => (await demo.team('GET', `${path}/inbox/conversations/${id}`)).conversation

test('a team is made, gets the new conversations, and its person sees why; another team is chosen in the thread', async () => {
  const { page: hers, id: herId } = await herPage()
  const { page } = await demo.open('settings/routing')
  await page.getByRole('button', { name: 'New team' }).click()
  const panel = page.getByRole('dialog')
  await panel.getByLabel('Name').fill('Sales')
  await panel.getByRole('combobox', { name: 'Members' }).click()
  await page.getByRole('option', { name: 'Bea Costa' }).click()
  await panel.getByLabel('Name').click()
  await panel.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('table', { name: 'Teams' }).getByRole('button', { name: 'Sales' }).waitFor()

  const rules = page.getByRole('region', { name: 'New conversations' })
  await rules.getByRole('combobox', { name: 'Agent for All connections' }).click()
  await page.getByRole('option', { name: 'No agent' }).click()
  await rules.getByRole('combobox', { name: 'Team for All connections' }).click()
  await page.getByRole('option', { name: 'Sales' }).click()
  await rules.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  await assertAccessible(page)

  const writer = await newWriter(demo, 'Lia Moura', 'Where is my order?', 'agent')
  assert.equal((await conversation(writer.id)).assignedTo, herId)
  await hers.goto(`${demo.url}/w/${demo.workspaceId}/${writer.place}`)
  await thread(hers).getByText('Assigned to Bea Costa, next in turn').waitFor()

  await demo.team('POST', `${path}/teams`, { name: 'Support', assignment: 'manual' })
  await hers.reload()
  await thread(hers).getByRole('button', { name: 'Assign', exact: true }).click()
  await hers
    .getByRole('dialog', { name: 'Assign' })
    .getByRole('option', { name: /^Support/ })
    .click()
  await thread(hers).getByText('Bea Costa moved it to team Support').waitFor()
  await waitUntil(() => conversation(writer.id), { teamName: 'Support', assignedTo: null })
})

test('the key Q takes the customer who has waited the longest, and says when nobody waits', async () => {
  const { teams } = await demo.team('GET', `${path}/teams`)
  const { memberIds, id: teamId } = teams.find(({ name }: { name: string }) => name === 'Sales')
  await demo.team('PATCH', `${path}/teams/${teamId}`, { assignment: 'manual' })
  const writer = await newWriter(demo, 'Rui Faria', 'Anybody?', 'agent')
  const { page } = await demo.open('inbox')
  const take = page.getByRole('button', { name: 'Take the next conversation' })
  await take.waitFor()
  await demo.team('PATCH', `${path}/inbox/conversations/${writer.id}`, { teamId: null })
  const waiting = async () =>
    (await demo.team('GET', `${path}/inbox/conversations?view=unassigned&sort=waiting&teamId=none`)).conversations
      .length
  for (let left = await waiting(); left > 0; left--) {
    const before = page.url()
    await page.keyboard.press('q')
    await page.waitForURL((url) => url.href !== before)
  }
  assert.equal(await waiting(), 0)
  assert.notEqual((await conversation(writer.id)).assignedTo, null)
  assert.ok(!memberIds.includes((await conversation(writer.id)).assignedTo))
  await take.click()
  await page.getByText('Nobody is waiting right now').waitFor()
})

async function herPage() {
  const { page } = await newMember(demo, 'Bea Costa')
  const { members } = await demo.team('GET', `${path}/members`)
  return { page, id: members.find(({ name }: { name: string }) => name === 'Bea Costa').userId as string }
}
