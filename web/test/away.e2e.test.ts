import { test } from 'node:test'
import { thread } from './support/composing.ts'
import { newMember, sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
const place = `/workspaces/${demo.workspaceId}`

test('a colleague who is away is marked where conversations are assigned', async () => {
  const { page: herPage } = await newMember(demo, 'Bea Costa')
  const say = async (what: string, told: RegExp) => {
    await herPage.getByRole('button', { name: /^You: / }).click()
    await herPage.getByRole('menuitem', { name: what }).click()
    await herPage.getByText(told).waitFor()
  }
  await say('Set yourself as away', /^Your teammates see that you’re away/)
  const { conversations } = await demo.team('GET', `${place}/inbox/conversations?limit=1`)
  const { page } = await demo.open(`inbox/${conversations[0].id}`)
  await thread(page).getByRole('button', { name: 'Assign', exact: true }).click()
  const her = page.getByRole('dialog', { name: 'Assign' }).getByRole('option', { name: /^Bea Costa/ })
  await her.getByText('Away', { exact: true }).waitFor()
  await say('Set yourself as available', /^Your teammates see that you’re available/)
  await her.getByText('Away', { exact: true }).waitFor({ state: 'detached' })
})
