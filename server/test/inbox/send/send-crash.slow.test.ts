import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ApiError } from '../../../src/base/errors.ts'
import type { Conversation } from '../../../src/inbox/conversation/conversation.ts'
import { sendMessage } from '../../../src/inbox/send/send.ts'
import { type SendStep, sendSteps } from '../../../src/inbox/send/send-deps.ts'
import { settleStrandedSends } from '../../../src/inbox/send/settle-parts.ts'
import { freshKey, noon, type Reply, type SendWorld, sendWorld, text } from '../../support/inbox/send-world.ts'
import { startProgram } from '../../support/program/program.ts'
import type { SendingTask } from './sending-program.ts'

// More on demand: SEND_CRASH_ROUNDS=20 takes a minute and a half.
const rounds = Number(process.env.SEND_CRASH_ROUNDS ?? 3)
const program = fileURLToPath(new URL('./sending-program.ts', import.meta.url))
const inEachPart = new Set<SendStep>(['awaitRate', 'allow', 'call', 'record'])
const inSettling = new Set<SendStep>(['record', 'lockToSettle', 'writeOutcome', 'settle'])

let world: SendWorld
let platform: { url: string; close(): void }
before(async () => {
  world = await sendWorld()
  platform = await world.platform.listen()
})
after(() => platform.close())

const inUpload = new Set<SendStep>(['upload', 'awaitRate', 'allow', 'call', 'record'])

for (const step of sendSteps) {
  test(`a process that dies after "${step}" sends each key, and a file, at most once, and each gets one final response`, async (t) => {
    for (let round = 0; round < (step === 'upload' ? 0 : rounds); round += 3) {
      const together = Array.from({ length: Math.min(3, rounds - round) }, (_, n) => crash(step, round + n))
      await Promise.all(together)
    }
    await crashWithFile(step)
    t.diagnostic(`${rounds} kills`)
  })
}

const newConversation = () => world.conversation({ windowExpiresAt: new Date(noon.getTime() + 86_400_000) })

async function crashWithFile(step: SendStep): Promise<void> {
  const conversation = await newConversation()
  const { id } = conversation
  const before = world.platform.uploads.length
  const send = { idempotencyKey: freshKey(), body: { kind: 'media', upload_id: await world.upload(id) } }
  const request = { conversationId: id, ...send, syntax: 'whole' } as const
  await killIn({ dieAfter: step, passing: 1, requests: [request] })
  await assertRecovers(conversation, send, sendSteps.indexOf(step), async () => {
    const { status, body, isReplay } = await sendMessage(world.node.deps, world.agent, request).catch(answerOf)
    return { status, body: JSON.parse(body), text: body, isReplay }
  })
  const [row] = await world.db.sql`select message_id is not null as is_taken from media where conversation_id = ${id}`
  const given = world.platform.uploads.length - before
  assert.deepEqual([row?.is_taken, given <= 1], [true, true])
  if (inUpload.has(step)) assert.equal(given, 1)
}

function answerOf(error: unknown) {
  assert.ok(error instanceof ApiError, String(error))
  const { statusCode: status, message: statusMessage, data } = error
  return { status, body: JSON.stringify({ statusMessage, data }), isReplay: false }
}

// Rounds alternate: one message, several at once, one long text.
async function crash(dieAfter: SendStep, round: number): Promise<void> {
  const [isTogether, isLong] = [round % 3 === 1, round % 3 === 2]
  const conversations: Conversation[] = []
  while (conversations.length < (isTogether ? 6 : 1)) conversations.push(await newConversation())
  const body = text(isLong ? 'word '.repeat(1500) : `Round ${round}`)
  const sends = conversations.map((conversation) => ({ conversation, idempotencyKey: freshKey(), body }))
  const requests = sends.map(({ conversation, ...rest }) => ({ conversationId: conversation.id, ...rest }))
  // Of several, the first two are reserved alone, and the first is settled alone.
  const passing = (isLong && inEachPart.has(dieAfter)) || inSettling.has(dieAfter) ? 2 : 3
  await killIn({ dieAfter, passing: isTogether || (isLong && inEachPart.has(dieAfter)) ? passing : 1, requests })
  for (const { conversation, ...rest } of sends) await assertRecovers(conversation, rest, round)
}

async function assertRecovers(
  { id, contact }: Conversation,
  { idempotencyKey, body }: { idempotencyKey: string; body: object },
  round: number,
  ask: () => Promise<Reply> = () => world.post(id, { idempotencyKey, body }),
): Promise<void> {
  // Simulates the time after which a silent process counts as dead.
  await world.db.sql`
    update dispatches
    set alive_until = statement_timestamp() - interval '1 millisecond'
    where conversation_id = ${id}`
  const [way] = await world.db.sql`
    select starting_until is null as is_unsent
    from dispatches
    where conversation_id = ${id}`
  const second = await ask()
  if (way?.is_unsent) assert.notEqual(second.status, 409, 'nobody waits for what was never allowed to start')
  if (second.status === 409) {
    assert.equal(second.body.data.code, 'NOT_RETRYABLE')
    // In every other round the platform reports the result; otherwise the ten minutes pass.
    if (round % 2 === 0) await tellStatuses(contact.phone ?? '')
    await giveUp(id)
  }
  const last = await ask()
  const again = await ask()
  assert.ok([202, 502].includes(last.status), last.text)
  assert.deepEqual([again.status, again.text, again.isReplay], [last.status, last.text, true])
  if (second.status !== 409) assert.equal(second.text, last.text)
  await assertSound(id, contact.phone ?? '', last.body.status ?? 'failed')
}

async function killIn(task: Pick<SendingTask, 'dieAfter' | 'passing' | 'requests'>): Promise<void> {
  const { database, mediaFolder, agent: sender } = world
  const place = { database, mediaFolder, platformUrl: platform.url, now: noon.toISOString() }
  const whole: SendingTask = { ...task, ...place, sender }
  const said: string[] = []
  const child = startProgram([program, JSON.stringify(whole)], { onLine: (line) => said.push(line) })
  assert.equal(await child.exited, 'SIGKILL')
  // Its output may arrive after its exit, and its last statements are committed or rolled back only then.
  while (said.length === 0) await sleep(5)
  const name = said[0]?.replace('sessions ', '') ?? ''
  while ((await sessionsOf(name)).length > 0) await sleep(5)
}

const sessionsOf = (name: string) =>
  world.db.sql`select from pg_stat_activity where datname = current_database() and application_name = ${name}`

/** Receives the statuses that the platform's webhook reports for the messages accepted for this customer. */
const tellStatuses = (phone: string): Promise<void> =>
  world.tell(
    ...world.platform.accepted
      .filter(({ to }) => to === phone)
      .map(({ correlator, externalId }) => world.status(externalId, 'sent', { correlator })),
  )

/** Simulates ten minutes for this conversation only; other tests continue meanwhile. */
async function giveUp(conversationId: string): Promise<void> {
  await world.db.sql`
    update messages
    set settle_by = ${noon}
    where conversation_id = ${conversationId}
      and settle_by is not null`
  await settleStrandedSends(world.node.deps)
}

async function assertSound(conversationId: string, phone: string, answered: string): Promise<void> {
  const taken = world.platform.accepted.filter(({ to }) => to === phone).map(({ correlator }) => correlator)
  assert.equal(new Set(taken).size, taken.length, 'no part is sent twice')
  const messages = await world.db.sql<{ id: string; status: string; settle_by: Date | null }[]>`
    select id, status, settle_by
    from messages
    where conversation_id = ${conversationId}`
  assert.equal(messages.length, 1, 'one message for the key')
  const [message] = messages
  assert.ok(taken.every((correlator) => correlator.startsWith(message?.id ?? '-')))
  assert.deepEqual([message?.status, message?.settle_by], [answered, null])
  const left = await world.db.sql`select 1 from dispatches where conversation_id = ${conversationId}`
  assert.equal(left.length, 0)
  const names = (await world.events(conversationId)).map(({ name }) => name)
  assert.equal(names.filter((name) => name === 'inbox.message.sent').length, 1, 'told once')
}
