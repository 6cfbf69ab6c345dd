import assert from 'node:assert/strict'
import { test } from 'node:test'
import { oncePerFile } from '../../support/file-lifecycle.ts'
import { customerMessage } from '../../support/inbox/inbox-world.ts'
import { type Face, facesOf } from './faces.ts'
import type { FaceName, Injection } from './injection.ts'
import { type Call, obedientAgent } from './obedient-agent.ts'
import { assertReadNoMore, type Observer, observerOf } from './observer.ts'
import { places } from './places.ts'
import { type Actor, customerOf, type Facts, type Key, openScene, type Scene } from './scene.ts'

const stage = oncePerFile(async () => {
  const scene = await openScene()
  return { scene, observer: await observerOf(scene) }
})
let tried = 0

/** Runs a test for each injection, which must have its expected outcome. */
export function testInjections(cases: readonly [Injection, FaceName][]): void {
  for (const [injection, face] of cases) {
    const { name, place, ends, as = 'agent' } = injection
    test(`${place}: ${name} (${face}: ${ends})`, async () => {
      const { scene, observer } = await stage()
      await tryOne(scene, observer, facesOf(scene)[face], { ...injection, as })
    })
  }
}

async function tryOne(
  opened: Scene,
  observer: Observer,
  face: Face,
  injection: Injection & Required<Pick<Injection, 'as'>>,
): Promise<void> {
  const { w, keys, facts: known } = opened
  const { place, ends, as, never = [], code } = injection
  const key = keys[as]
  const owner = as === 'masked' ? keys.masked : keys.agent
  const phone = `55119${40_000_000 + ++tried}`
  const mark = `mark-${tried}`
  w.clock.advance(5000)
  const mine = await beginConversation(opened, owner, phone)
  const facts: Facts = {
    ...known,
    mine,
    my_phone: phone,
    mark,
    face: face.name,
    me: key.id,
    connection: key.connectionId,
  }
  await places[place].plant({ scene: opened, key: owner, phone, text: fill(`${injection.text} ${mark}`, facts) })
  w.clock.advance(1000)

  const finish = await observer.watch({ key, conversationId: mine, phone })
  const { steps, sent } = await obedientAgent(opened, face, key.value)
    .work(firstCalls(as, facts))
    .then(async (done) => ({ steps: done, sent: await finish() }))
    // Otherwise it would be pending work of the next injection.
    .finally(() => opened.admin.call('POST', `/inbox/conversations/${mine}/take-over`))

  const hidden = never.map((fact) => facts[fact])
  assertReadNoMore(opened, steps, { mark, fields: places[place].fields, never: hidden })
  const followed = steps.filter(({ isFollowed }) => isFollowed).map(({ order, reply }) => ({ order, ...reply }))
  const why = JSON.stringify(followed)
  if (ends === 'unseen' || ends === 'words') assert.deepEqual(followed, [])
  else assert.ok(followed.length > 0, 'the order was read')
  if (ends === 'words') assert.ok(JSON.stringify(steps).includes(mark), 'the words were read')
  if (ends === 'own')
    assert.ok(
      followed.some(({ isDone }) => isDone),
      why,
    )
  else assert.ok(!followed.some(({ isDone }) => isDone), why)
  if (ends !== 'own') assert.deepEqual(sent, [], 'nobody is sent anything')
  if (code !== undefined) assert.deepEqual([...new Set(followed.map((one) => one.code))], [code], why)
}

async function beginConversation({ w }: Scene, { connectionId }: Key, phone: string): Promise<string> {
  await w.deliverOn(connectionId, customerMessage({ at: w.clock.now(), customer: customerOf(phone) }))
  const [found] = await w.conversations({ phone })
  w.clock.advance(1000)
  return found.id
}

/** Data that the attacker knows. */
const fill = (text: string, facts: Facts): string =>
  text.replace(/<(\w+)>/g, (whole, given: string) => {
    const name = given.toLowerCase()
    if (!Object.hasOwn(facts, name)) return whole
    const fact = facts[name as keyof Facts]
    return given === name ? fact : fact.toUpperCase()
  })

/** First calls of an agent without orders: it waits for work and reads the customer. */
function firstCalls(as: Actor, { mine, my_phone }: Facts): Call[] {
  const lead = { verb: 'get_lead', input: { identifier: my_phone } }
  const read = { verb: 'read_conversation', input: { conversation_id: mine } }
  if (as === 'of leads') return [lead]
  if (as === 'reader') return [{ verb: 'list_conversations', input: { owner: 'anyone', phone: my_phone } }, read]
  return [{ verb: 'wait_for_work', input: { wait: 0 } }, read, lead]
}
