import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { openPresenceSender, type Said } from '../../src/inbox/parts/presence-sender.ts'

/** A sender that nobody answers until told so, with the clock in the test's hand. */
function listener() {
  mock.timers.reset()
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  const said: Said[] = []
  let answers: (() => void)[] = []
  const sender = openPresenceSender((state) => {
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
  sender.look(true)
  await answer()
  for (let n = 0; n < 4; n++) {
    sender.type()
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
  sender.look(true)
  await answer()
  for (let n = 0; n < 12; n++) {
    sender.type()
    await pass(1000)
  }
  assert.deepEqual(said, ['viewing', 'typing', 'typing'])
})

test('what was sent or taken back ends the writing at once, and so does leaving; then nothing is said any more', async () => {
  const { said, sender, answer, pass } = listener()
  sender.look(true)
  await answer()
  sender.type()
  await answer()
  sender.rest()
  sender.rest()
  await answer()
  sender.type()
  await answer()
  sender.leave()
  await pass(60_000)
  assert.deepEqual(said, ['viewing', 'typing', 'viewing', 'typing', 'gone'])
})

test('nothing overtakes what is still on its way, and of what changed meanwhile the last counts', async () => {
  const { said, sender, answer } = listener()
  sender.look(true)
  sender.type()
  sender.rest()
  sender.leave()
  assert.deepEqual(said, ['viewing'])
  await answer()
  assert.deepEqual(said, ['viewing', 'gone'])
})

test('a page out of sight is gone, and back when it is looked at', async () => {
  const { said, sender, answer, pass } = listener()
  sender.look(true)
  await answer()
  sender.look(false)
  await pass(30_000)
  sender.look(true)
  await answer()
  assert.deepEqual(said, ['viewing', 'gone', 'viewing'])
})
