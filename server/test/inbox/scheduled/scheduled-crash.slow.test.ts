import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { scheduleMessage } from '../../../src/inbox/scheduled/schedule.ts'
import { sendDueMessages } from '../../../src/inbox/scheduled/send-due.ts'
import { type SendStep, sendSteps } from '../../../src/inbox/send/send-deps.ts'
import { settleStrandedSends } from '../../../src/inbox/send/settle-parts.ts'
import { noon, type SendWorld, sendWorld, text } from '../../support/inbox/send-world.ts'
import { startProgram } from '../../support/program/program.ts'
import type { ScheduledTask } from './scheduled-program.ts'

// Steps that a message without a file passes: 13, with 4 rounds of 10 messages each.
const steps = sendSteps.filter((step) => step !== 'upload')
const rounds = Number(process.env.SCHEDULED_CRASH_ROUNDS ?? 4)
const atOnce = 10
const program = fileURLToPath(new URL('./scheduled-program.ts', import.meta.url))

let world: SendWorld
let platform: { url: string; close(): void }
before(async () => {
  world = await sendWorld()
  platform = await world.platform.listen()
})
after(() => platform.close())

for (const dieAfter of steps) {
  test(`of scheduled messages of a node that dies after "${dieAfter}", another node sends each at most once and loses none`, async (t) => {
    for (let round = 0; round < rounds; round++) await crash(dieAfter, round)
    t.diagnostic(`${rounds * atOnce} messages`)
  })
}

async function crash(dieAfter: SendStep, round: number): Promise<void> {
  const { node, agent, clock } = world
  const windowExpiresAt = new Date(clock.now().getTime() + 86_400_000)
  const dueAt = new Date(clock.now().getTime() + 1_000)
  const scheduled = await Promise.all(
    Array.from({ length: atOnce }, async (_, n) => {
      const { id: conversationId, contact } = await world.conversation({ windowExpiresAt })
      const body = text(`Round ${round}, message ${n}`)
      const message = { conversationId, body, dueAt, cancelIfCustomerWrites: true }
      const { scheduled } = await scheduleMessage(node.deps, agent, message)
      return { id: scheduled.id, conversationId, phone: contact.phone ?? '' }
    }),
  )
  const ids = scheduled.map(({ id }) => id)
  const conversationIds = scheduled.map(({ conversationId }) => conversationId)
  clock.advance(1_000)
  await kill({ dieAfter, passing: 1 + round * 2 }, clock.now())
  // What a silent process has begun counts as dead, and its leases have ended.
  await world.db.sql`
    update dispatches set alive_until = statement_timestamp() - interval '1 millisecond'
    where conversation_id = any (${conversationIds}::uuid[])`
  await world.db.sql`
    update scheduled_messages set next_at = ${noon}
    where id = any (${ids}::uuid[]) and next_at is not null`
  const other = { ...node.deps, readAgentSender: async () => agent }
  await sendDueMessages(other)
  // The ten minutes pass after which a send without a result has failed.
  await world.db.sql`
    update messages set settle_by = ${noon}
    where conversation_id = any (${conversationIds}::uuid[]) and settle_by is not null`
  await settleStrandedSends(node.deps)
  await world.db.sql`
    update scheduled_messages set next_at = ${noon}
    where id = any (${ids}::uuid[]) and next_at is not null`
  await sendDueMessages(other)
  for (const one of scheduled) await assertSound(one)
}

async function assertSound({ id, phone }: { id: string; phone: string }): Promise<void> {
  const accepted = world.platform.accepted.filter(({ to }) => to === phone).length
  const [row] = await world.db.sql<{ status: string; message: string | null }[]>`
    select s.status, m.status as message
    from scheduled_messages s
    left join messages m on m.workspace_id = s.workspace_id and m.id = s.message_id
    where s.workspace_id = ${world.workspaceId} and s.id = ${id}`
  assert.ok(accepted <= 1, `sent ${accepted} times`)
  assert.ok(row?.status === 'sent' || row?.status === 'failed', `lost: ${row?.status}`)
  if (row.status === 'sent') assert.equal(accepted, 1)
  else assert.equal(row.message, 'failed', 'the thread shows it')
}

/** Runs a node that dies after the step, at its nth passing; one that never passes it ends by itself. */
async function kill(task: Pick<ScheduledTask, 'dieAfter' | 'passing'>, now: Date): Promise<void> {
  const { database, mediaFolder, agent: sender } = world
  const whole: ScheduledTask = {
    ...task,
    database,
    mediaFolder,
    sender,
    platformUrl: platform.url,
    now: now.toISOString(),
  }
  const said: string[] = []
  const child = startProgram([program, JSON.stringify(whole)], { onLine: (line) => said.push(line) })
  await child.exited
  while (said.length === 0) await sleep(5)
  const name = said[0]?.replace('sessions ', '') ?? ''
  while ((await sessionsOf(name)).length > 0) await sleep(5)
}

const sessionsOf = (name: string) =>
  world.db.sql`select from pg_stat_activity where datname = current_database() and application_name = ${name}`
