import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type BehaviorWorld,
  beginConversation,
  behaviorWorld,
  businessMessages,
} from '../../support/channels/behavior-world.ts'
import { rigs } from '../../support/channels/rigs.ts'

const answer = async (w: BehaviorWorld, id: string, choices: object) => {
  const reply = await w.verb('POST', `/conversations/${id}/answer`, { body: { choices } })
  await w.settled()
  return reply
}
const buttons = { text: 'Sure?', buttons: [{ title: 'Yes' }, { id: 'no', title: 'No' }] }
const rows = [
  { id: 'mon', title: 'Monday' },
  { id: 'tue', title: 'Tuesday', description: 'With Ana' },
]
const list = { button: 'See the days', rows }
const days = { text: 'When do you come?', list, footer: 'We open at nine.' }

for (const rig of rigs.filter(({ isOfficial }) => isOfficial)) {
  test(`${rig.channel}: an agent sends buttons and a list, and receives the choice`, async () => {
    const w = await behaviorWorld(rig)
    const { ana, id } = await beginConversation(w)
    const asked = await answer(w, id, buttons)
    assert.deepEqual([asked.status, asked.body.status], [200, 'sent'], JSON.stringify(asked.body))
    assert.equal((await answer(w, id, buttons)).body.was_new, false)
    await ana.chooses('1')
    const listed = await answer(w, id, days)
    await ana.chooses('tue')
    const [first, second] = await businessMessages(ana)
    const offered = [{ id: '1', title: 'Yes' }, buttons.buttons[1]]
    assert.deepEqual([first.text, first.offer], ['Sure?', { button: null, options: offered }])
    assert.deepEqual([second.text, second.footer], [days.text, days.footer])
    assert.deepEqual(second.offer, { button: list.button, options: rows })
    const { body: read } = await w.verb('GET', `/conversations/${id}`)
    // biome-ignore lint/suspicious/noExplicitAny: as in Answer
    const among = (fits: (one: any) => boolean) => read.messages.find(fits)
    const yes = among(({ answers_message_id: about }) => about === asked.body.message_id)
    assert.deepEqual([yes.from, yes.customer_text, yes.chosen], ['customer', 'Yes', { id: '1', title: 'Yes' }])
    const shown = among((one) => one.id === listed.body.message_id)
    assert.deepEqual([shown.text, shown.choices], [days.text, { list, footer: days.footer }])
    const tuesday = among(({ answers_message_id: about }) => about === listed.body.message_id)
    assert.deepEqual([tuesday.customer_text, tuesday.chosen], ['Tuesday', { id: 'tue', title: 'Tuesday' }])
    const { body: team } = await w.member.call('GET', `/inbox/conversations/${id}/messages`)
    const inTeam = team.messages.find((one: { id: string }) => one.id === listed.body.message_id)
    assert.deepEqual(inTeam.choices, { list, footer: days.footer })
  })
}

for (const rig of rigs.filter(({ isOfficial }) => !isOfficial)) {
  test(`${rig.channel}: rejects buttons and lists, and suggests a numbered text instead`, async () => {
    const w = await behaviorWorld(rig)
    const { ana, id } = await beginConversation(w)
    const { status, body } = await answer(w, id, days)
    assert.deepEqual([status, body.code], [422, 'UNSUPPORTED_KIND'])
    assert.match(body.next[0], /numbers the options/)
    assert.deepEqual(await businessMessages(ana), [])
  })
}
