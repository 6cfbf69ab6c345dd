import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sendDeps } from '../../../src/app/inbox.ts'
import { newId } from '../../../src/base/id.ts'
import { parseRatingChoice } from '../../../src/channels/interactive-options.ts'
import { parseDetail } from '../../../src/channels/waba/parse/content.ts'
import { eraseConversation } from '../../../src/inbox/erase.ts'
import { askForRatings } from '../../../src/inbox/satisfaction/ask-for-ratings.ts'
import { quickReplyIndexes } from '../../../src/inbox/satisfaction/question.ts'
import { isQuestion } from '../../../src/inbox/satisfaction/ratings.ts'
import { customerMessage, marina } from '../../support/inbox/inbox-world.ts'
import { noDetail, satisfactionWorld } from './satisfaction-world.ts'

test('a customer is asked once after the wait, and the score is stored with who had answered', async () => {
  const w = await satisfactionWorld()
  const before = w.sent().length
  await w.status('resolved')
  w.wait(9)
  await w.run()
  assert.equal(w.sent().length, before, 'not before')
  w.wait(2)
  await Promise.all([w.run(), w.run()])
  await w.run()
  assert.equal(w.sent().length, before + 1)
  const [, question] = (await w.messages(w.id)).filter(({ direction }) => direction === 'outbound')
  assert.deepEqual(
    [question.text, question.actor],
    ['How satisfied are you with our help?', { type: 'system', id: null }],
  )
  assert.equal((await w.conversation()).status, 'resolved')
  await w.answers(4)
  const [rating] = await w.stored()
  assert.ok(rating)
  assert.deepEqual(
    [rating.status, rating.score, rating.answered_by, rating.answerer_id],
    ['rated', 4, 'user', w.member.userId],
  )
})

test('a score opens nothing and waits for no answer, also the second time; the first one counts', async () => {
  const w = await satisfactionWorld()
  await w.status('closed')
  w.wait(11)
  await w.run()
  const before = await w.conversation()
  w.clock.advance(1_000)
  await w.answers(2)
  w.clock.advance(1_000)
  await w.answers(5)
  const after = await w.conversation()
  for (const field of ['status', 'unansweredSince', 'unreadCount', 'owner', 'assignedTo'])
    assert.deepEqual(after[field], before[field], field)
  assert.equal((await w.stored())[0]?.score, 2)
  w.clock.advance(1_000)
  await w.customerWrites('Something else')
  assert.equal((await w.conversation()).status, 'open')
})

test('nobody is asked who came back, or if the agent that answered has closed it', async () => {
  const reopened = await satisfactionWorld()
  await reopened.status('resolved')
  reopened.wait(5)
  await reopened.customerWrites('One more thing')
  reopened.wait(6)
  await reopened.run()
  assert.deepEqual(await reopened.stored(), [])

  const w = await satisfactionWorld()
  const before = w.sent().length
  await w.db.sql`
    update messages set actor_type = 'agent', actor_id = ${w.agent.id}
    where workspace_id = ${w.workspaceId} and direction = 'outbound'`
  await w.status('resolved')
  await w.db.sql`
    update conversation_activities set actor_type = 'agent', actor_id = ${w.agent.id}
    where workspace_id = ${w.workspaceId} and kind = 'status'`
  w.wait(11)
  await w.run()
  assert.equal(w.sent().length, before)
  await w.status('open')
  w.wait(1)
  await w.status('resolved')
  w.wait(11)
  await w.run()
  assert.deepEqual(
    (await w.stored()).map((one) => [one.answered_by, one.answerer_id]),
    [['agent', w.agent.id]],
    'a person has closed it',
  )
})

test('opened between the plan and the send, it is cancelled under the lock', async () => {
  const w = await satisfactionWorld()
  await w.status('resolved')
  w.wait(11)
  const deps = sendDeps(w)
  let isOpened = false
  const opening = {
    ...deps,
    step: (async (name, work) => {
      if (name === 'reserve' && !isOpened) {
        isOpened = true
        await w.status('open')
      }
      return deps.step(name, work)
    }) as typeof deps.step,
  }
  const before = w.sent().length
  await askForRatings(opening)
  assert.equal(w.sent().length, before)
  assert.deepEqual(
    (await w.stored()).map(({ status, reason }) => [status, reason]),
    [['cancelled', 'OPENED_AGAIN']],
  )
})

test('a customer is asked once in the days of the setting, on all connections together', async () => {
  const w = await satisfactionWorld({ everyDays: 7 })
  await w.status('resolved')
  w.wait(11)
  await w.run()
  const other = await w.addConnection()
  w.clock.advance(1_000)
  await w.deliverOn(other, customerMessage({ at: w.clock.now(), text: 'Hi', customer: marina }))
  const second = (await w.conversations({ phone: marina.phone ?? '' })).find(({ id }) => id !== w.id)
  const place = `/inbox/conversations/${second.id}`
  const headers = { 'idempotency-key': newId(new Date()) }
  await w.member.call('POST', `${place}/messages`, { kind: 'text', text: 'Hello' }, headers)
  await w.member.call('PATCH', place, { status: 'resolved' })
  w.wait(11)
  await w.run()
  assert.equal((await w.stored()).length, 1)
  w.wait(8 * 24 * 60)
  await w.member.call('PATCH', place, { status: 'open' })
  await w.member.call('PATCH', place, { status: 'resolved' })
  w.wait(11)
  await w.run()
  assert.equal((await w.stored()).length, 2)
})

test('a question whose process died before it was reserved is sent by the next run, once', async () => {
  const w = await satisfactionWorld()
  await w.status('resolved')
  w.wait(11)
  const before = w.sent().length
  const deps = sendDeps(w)
  await askForRatings({
    ...deps,
    step: (name, work) => {
      if (name === 'write') throw new Error('The process died')
      return deps.step(name, work)
    },
  })
  assert.equal(w.sent().length, before)
  for (let run = 0; run < 3; run++) {
    w.wait(3)
    await w.run()
  }
  assert.equal(w.sent().length, before + 1)
})

test('a score counts only in the conversation that was asked, within its scale', async () => {
  const w = await satisfactionWorld({ scale: 3 })
  await w.status('resolved')
  w.wait(11)
  await w.run()
  await w.answers(5)
  assert.equal((await w.stored())[0]?.score, null, 'above the scale')
  const other = { ...marina, phone: '5511987650009', name: 'Bia' }
  const [rating] = await w.stored()
  const chosen = `rating:${rating?.id}:1`
  await w.customerWrites('😞', { customer: other, detail: { ...noDetail, chosen } as never })
  assert.equal((await w.stored())[0]?.score, null, 'of another customer')
  await w.answers(1, newId(w.clock.now()))
  assert.equal((await w.stored())[0]?.score, null, 'of no question')
  await w.answers(3)
  assert.equal((await w.stored())[0]?.score, 3)
})

test('the next message within an hour is the comment, unless it is a question', async () => {
  const listed = async (text: string, minutes: number) => {
    const w = await satisfactionWorld()
    await w.status('resolved')
    w.wait(11)
    await w.run()
    await w.answers(5)
    w.wait(minutes)
    await w.customerWrites(text)
    const { body } = await w.member.call('GET', '/ratings')
    const { rating } = (await w.member.call('GET', `/inbox/conversations/${w.id}/follow-ups`)).body
    assert.equal(rating.comment, body.ratings[0].comment)
    assert.deepEqual(body.summary, { days: 30, asked: 1, rated: 1, average: 1 })
    return [body.ratings[0].name, body.ratings[0].comment, body.ratings[0].answeredBy.name]
  }
  assert.deepEqual(await listed('Very quick, thank you', 5), ['Marina Duarte', 'Very quick, thank you', 'Ana Lima'])
  assert.deepEqual(await listed('And when does it arrive?', 5), ['Marina Duarte', null, 'Ana Lima'])
  assert.deepEqual(await listed('Very quick, thank you', 61), ['Marina Duarte', null, 'Ana Lima'])
})

test('ratings are listed by score, person and agent, and erased with their conversation', async () => {
  const w = await satisfactionWorld()
  await w.status('resolved')
  w.wait(11)
  await w.run()
  await w.answers(4)
  const count = async (query: string) => (await w.admin.call('GET', `/ratings?${query}`)).body.ratings.length
  assert.equal((await w.member.call('GET', `/ratings?userId=${w.admin.userId}`)).status, 403)
  assert.deepEqual(
    [
      await count(''),
      await count('score=4'),
      await count('score=5'),
      await count(`userId=${w.member.userId}`),
      await count(`userId=${w.admin.userId}`),
      await count(`keyId=${w.agent.id}`),
    ],
    [1, 1, 0, 1, 0, 0],
  )
  const stranger = await satisfactionWorld()
  assert.equal((await stranger.member.call('GET', '/ratings')).body.ratings.length, 0)
  await w.db.tx((tx) => eraseConversation(tx, w.workspaceId, w.id))
  assert.deepEqual(await w.stored(), [])
})

test('only admins change the settings; switched off, waiting questions are cancelled', async () => {
  const w = await satisfactionWorld()
  assert.equal((await w.member.call('PATCH', '/satisfaction-settings', { isEnabled: false })).status, 403)
  const unofficial = await w.addConnection('unofficial')
  const foreign = newId(w.clock.now())
  for (const change of [
    { waitMinutes: 1 },
    { scale: 4 },
    { question: ' ' },
    { connectionIds: [unofficial] },
    { connectionIds: [foreign] },
    { everyDays: 0 },
    {},
  ])
    assert.equal((await w.admin.call('PATCH', '/satisfaction-settings', change)).status, 400, JSON.stringify(change))
  await w.status('resolved')
  w.wait(11)
  const deps = sendDeps(w)
  await askForRatings({
    ...deps,
    step: () => {
      throw new Error('The process died')
    },
  })
  await w.set({ isEnabled: false })
  const before = w.sent().length
  w.wait(10)
  await w.run()
  assert.deepEqual(
    [w.sent().length - before, (await w.stored()).map(({ status, reason }) => [status, reason])],
    [0, [['cancelled', 'SWITCHED_OFF']]],
  )
})

test('nobody but the service can send options that answer a question', async () => {
  const w = await satisfactionWorld()
  await w.status('resolved')
  w.wait(11)
  await w.run()
  const [rating] = await w.stored()
  const choices = { text: 'Shall we?', buttons: [{ id: `rating:${rating?.id}:5`, title: 'Yes' }] }
  const headers = { 'idempotency-key': newId(new Date()) }
  const at = `/inbox/conversations/${w.id}/messages`
  assert.equal((await w.member.call('POST', at, { kind: 'choices', choices }, headers)).status, 422)
})

test('only ids of questions are read from answers, whichever button they come from', () => {
  const id = newId(new Date())
  const table = [
    [`rating:${id}:1`, { ratingId: id, score: 1 }],
    [`rating:${id}:5`, { ratingId: id, score: 5 }],
    [`rating:${id}:6`, null],
    [`rating:${id}:0`, null],
    [`rating:${id.slice(1)}:1`, null],
    [`xrating:${id}:1`, null],
    [`rating:${'-'.repeat(36)}:1`, null],
    ['deliver', null],
    [null, null],
  ] as const
  for (const [chosen, expected] of table) assert.deepEqual(parseRatingChoice(chosen), expected, String(chosen))
  const button = (payload: string) => parseDetail('button', { button: { text: 'Good', payload } })?.chosen
  assert.equal(button(`rating:${id}:3`), `rating:${id}:3`)
  assert.equal(button('Good'), undefined)
})

test('quick replies keep their place among other buttons, and questions are recognized', () => {
  const buttons = [{ type: 'URL' }, { type: 'QUICK_REPLY' }, { type: 'quick_reply' }]
  assert.deepEqual(quickReplyIndexes([{ type: 'BODY' }, { type: 'BUTTONS', buttons }]), [1, 2])
  for (const broken of [null, 'x', [], [null], [{ type: 'BUTTONS', buttons: 3 }]])
    assert.deepEqual(quickReplyIndexes(broken), [])
  assert.deepEqual(['Thanks!', 'When?', '¿Cuándo', '何時？', 'متى؟'].map(isQuestion), [false, true, true, true, true])
})
