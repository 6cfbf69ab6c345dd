import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { createPresenceSender, type PresenceState } from '../../src/inbox/parts/presence-sender.ts'

/** A sender whose requests complete only when told to, with a mocked clock. */
function listener() {
  mock.timers.reset()
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  const said: PresenceState[] = []
  let answers: (() => void)[] = []
  const sender = createPresenceSender((state) => {
    said.push(state)
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
  return { said, sender, answer, pass }
}

test('who writes says so at the first letter, not at each, and no more five seconds after the last', async () => {
  const { said, sender, answer, pass } = listener()
  sender.setVisible(true)
  await answer()
  for (let n = 0; n < 4; n++) {
    sender.startTyping()
    await pass(1500)
  }
  assert.deepEqual(said, ['viewing', 'typing'])
  await pass(3499)
  assert.deepEqual(said, ['viewing', 'typing'])
  await pass(1)
  assert.deepEqual(said, ['viewing', 'typing', 'viewing'])
})

test('the beat of whoever writes on says typing: nobody sees them stop meanwhile', async () => {
  const { said, sender, answer, pass } = listener()
  sender.setVisible(true)
  await answer()
  for (let n = 0; n < 12; n++) {
    sender.startTyping()
    await pass(1000)
  }
  assert.deepEqual(said, ['viewing', 'typing', 'typing'])
})

test('what was sent or taken back ends the writing at once, and so does leaving; then nothing is said any more', async () => {
  const { said, sender, answer, pass } = listener()
  sender.setVisible(true)
  await answer()
  sender.startTyping()
  await answer()
  sender.stopTyping()
  sender.stopTyping()
  await answer()
  sender.startTyping()
  await answer()
  sender.leave()
  await pass(60_000)
  assert.deepEqual(said, ['viewing', 'typing', 'viewing', 'typing', 'gone'])
})

test('nothing overtakes what is still on its way, and of what changed meanwhile the last counts', async () => {
  const { said, sender, answer } = listener()
  sender.setVisible(true)
  sender.startTyping()
  sender.stopTyping()
  sender.leave()
  assert.deepEqual(said, ['viewing'])
  await answer()
  assert.deepEqual(said, ['viewing', 'gone'])
})

test('a page out of sight is gone, and back when it is looked at', async () => {
  const { said, sender, answer, pass } = listener()
  sender.setVisible(true)
  await answer()
  sender.setVisible(false)
  await pass(30_000)
  sender.setVisible(true)
  await answer()
  assert.deepEqual(said, ['viewing', 'gone', 'viewing'])
})
