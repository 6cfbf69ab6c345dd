import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { createPresenceSender, type PresenceState } from '../../src/inbox/parts/presence-sender.ts'

/** Creates a sender whose requests complete only when told to, with a mocked clock. */
function listener() {
  mock.timers.reset()
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  const said: PresenceState[] = []
  let answers: (() => void)[] = []
  const toCustomer: boolean[] = []
  const sender = createPresenceSender((state, isToCustomer) => {
    said.push(state)
    toCustomer.push(isToCustomer)
    return new Promise<void>((resolve) => answers.push(resolve))
  })
  const answer = async () => {
    while (answers.length > 0) {
      const waiting = answers
      answers = []
      for (const resolve of waiting) resolve()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const pass = async (ms: number) => {
    mock.timers.tick(ms)
    await answer()
  }
  return { said, toCustomer, sender, answer, pass }
}

test('typing is reported at the first input, not at each, and ends five seconds after the last', async () => {
  const { said, sender, answer, pass } = listener()
  sender.setVisible(true)
  await answer()
  for (let n = 0; n < 4; n++) {
    sender.startTyping(true)
    await pass(1500)
  }
  assert.deepEqual(said, ['viewing', 'typing'])
  await pass(3499)
  assert.deepEqual(said, ['viewing', 'typing'])
  await pass(1)
  assert.deepEqual(said, ['viewing', 'typing', 'viewing'])
})

test('changing from a note to a message to the customer is reported', async () => {
  const { toCustomer, said, sender, answer } = listener()
  sender.setVisible(true)
  await answer()
  for (const isMessage of [false, true, true, false]) {
    sender.startTyping(isMessage)
    await answer()
  }
  assert.deepEqual(said, ['viewing', 'typing', 'typing', 'typing'])
  assert.deepEqual(toCustomer, [false, false, true, false])
})

test('the heartbeat of someone typing says typing, so that it never seems to stop', async () => {
  const { said, sender, answer, pass } = listener()
  sender.setVisible(true)
  await answer()
  for (let n = 0; n < 14; n++) {
    sender.startTyping(true)
    await pass(1000)
  }
  assert.deepEqual(said, ['viewing', 'typing', 'typing'])
})

test('sending, clearing or leaving ends typing at once, and nothing is reported afterwards', async () => {
  const { said, sender, answer, pass } = listener()
  sender.setVisible(true)
  await answer()
  sender.startTyping(true)
  await answer()
  sender.stopTyping()
  sender.stopTyping()
  await answer()
  sender.startTyping(true)
  await answer()
  sender.leave()
  await pass(60_000)
  assert.deepEqual(said, ['viewing', 'typing', 'viewing', 'typing', 'gone'])
})

test('requests are sent in order, and of changes during one only the last is sent', async () => {
  const { said, sender, answer } = listener()
  sender.setVisible(true)
  sender.startTyping(true)
  sender.stopTyping()
  sender.leave()
  assert.deepEqual(said, ['viewing'])
  await answer()
  assert.deepEqual(said, ['viewing', 'gone'])
})

test('a hidden page counts as gone, and returns when visible', async () => {
  const { said, sender, answer, pass } = listener()
  sender.setVisible(true)
  await answer()
  sender.setVisible(false)
  await pass(30_000)
  sender.setVisible(true)
  await answer()
  assert.deepEqual(said, ['viewing', 'gone', 'viewing'])
})
