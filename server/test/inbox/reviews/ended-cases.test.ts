import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../../src/base/id.ts'
import { type CaseCount, countCases, countReasons, listCounted } from '../../../src/inbox/reviews/agent-numbers.ts'
import { statementsOf } from '../../support/database.ts'
import { inboxWorld } from '../../support/inbox/inbox-world.ts'
import { findBadPlans } from '../../support/query-plans.ts'
import {
  type History,
  hour,
  k1,
  k2,
  minute,
  ofAgent,
  type Recounted,
  random,
  randomHistory,
  recount,
  type Step,
  start,
  storeHistory,
} from './history.ts'

const days = 30
const dayMs = 24 * hour
const now = new Date(start.getTime() + days * dayMs)
const starts = Array.from({ length: days }, (_, n) => new Date(start.getTime() + n * dayMs))

const began = (at: number): History[number] => owner(at, 'human', `agent:${k1}`, 'system', 'began')
const time = (minutes: number) => new Date(start.getTime() + dayMs + minutes * minute)
const owner = (
  at: number,
  from: string,
  to: string,
  by: 'agent' | 'user' | 'system' = 'user',
  reason: string | null = null,
): History[number] => ({ what: 'owner', from, to, by, reason, at: time(at) })
const wrote = (at: number, by: Extract<Step, { what: 'message' }>['by']): History[number] => ({
  what: 'message',
  by,
  at: time(at),
})
const status = (at: number, from: string, to: string): History[number] => ({ what: 'status', from, to, at: time(at) })
const agent = { agent: k1 }
const people = 'human'
const answered = [began(0), wrote(1, 'customer'), wrote(2, agent)]
const later = 96 * 60

const rows: [what: string, history: History, outcomes: string[]][] = [
  ['closed by the agent', [...answered, status(3, 'open', 'resolved')], ['resolved']],
  ['closed without an answer', [began(0), wrote(1, 'customer'), status(3, 'open', 'resolved')], []],
  ['closed after a failed message', [began(0), wrote(1, 'failed'), status(3, 'open', 'closed')], []],
  [
    'reopened within 72 hours, then closed without another answer',
    [...answered, status(3, 'open', 'resolved'), status(60, 'resolved', 'open'), status(61, 'open', 'closed')],
    ['reopened'],
  ],
  [
    'reopened after 72 hours',
    [...answered, status(3, 'open', 'resolved'), status(later, 'resolved', 'open')],
    ['resolved'],
  ],
  [
    'resolved, then closed: one closing',
    [...answered, status(3, 'open', 'resolved'), status(4, 'resolved', 'closed')],
    ['resolved'],
  ],
  ['people wrote', [...answered, wrote(3, 'user'), status(4, 'open', 'resolved')], ['assisted']],
  ['someone wrote on the phone', [...answered, wrote(3, 'echo'), status(4, 'open', 'resolved')], ['assisted']],
  [
    'people decided on a draft',
    [...answered, { what: 'draft', at: time(3) }, status(4, 'open', 'resolved')],
    ['assisted'],
  ],
  [
    'people wrote on an earlier request only',
    [
      ...[owner(0, people, ofAgent), wrote(1, 'user'), wrote(2, agent), status(3, 'open', 'resolved')],
      ...[status(later, 'resolved', 'open'), wrote(later + 1, agent), status(later + 2, 'open', 'resolved')],
    ],
    ['assisted', 'resolved'],
  ],
  ['handed over', [...answered, owner(3, ofAgent, people, 'agent')], ['handed_over']],
  ['handed over without an answer', [began(0), owner(3, ofAgent, people, 'agent')], ['handed_over']],
  ['taken over', [...answered, owner(3, ofAgent, people, 'user', 'sent')], ['taken_over']],
  ['taken over on the phone', [...answered, owner(3, ofAgent, people, 'system', 'phone')], ['taken_over']],
  ['taken over before an answer', [began(0), owner(3, ofAgent, people)], []],
  ['silent', [began(0), wrote(1, 'customer'), owner(9, ofAgent, people, 'system', 'watchdog')], ['silent']],
  ['the key ended', [...answered, owner(3, ofAgent, people, 'system', 'key_ended')], ['other']],
  ['agents were stopped', [...answered, owner(3, ofAgent, people, 'user', 'agents_stopped')], ['other']],
  ['another agent got it', [...answered, owner(3, ofAgent, `agent:${k2}`, 'agent')], ['other']],
  [
    'people had it in between',
    [
      ...[...answered, owner(3, ofAgent, people), wrote(4, 'user'), owner(5, people, ofAgent)],
      ...[wrote(6, agent), status(7, 'open', 'resolved')],
    ],
    ['taken_over', 'assisted'],
  ],
  ['of people', [wrote(1, 'customer'), wrote(2, 'user'), status(3, 'open', 'resolved')], []],
]

for (const [what, history, outcomes] of rows) {
  test(`the outcome of a case: ${what}`, async () => {
    const w = await inboxWorld()
    await storeHistory(w, history)
    const found = await countCases(w.db.sql, { workspaceId: w.workspaceId, from: start, to: now, now }, starts)
    const byDay = found.filter(({ day }) => day !== null)
    assert.deepEqual(byDay.flatMap((one) => Array(one.cases).fill(one.outcome)).sort(), outcomes.toSorted())
  })
}

test('a case that closed in the last 72 hours is not yet resolved', async () => {
  const w = await inboxWorld()
  await storeHistory(w, [...answered, status(3, 'open', 'resolved')])
  const soon = { workspaceId: w.workspaceId, from: start, to: now, now: new Date(time(3).getTime() + 71 * hour) }
  const [found] = await countCases(w.db.sql, soon, starts)
  assert.equal(found?.outcome, 'recent')
})

test('numbers equal a recount of random histories, by day and by version of the instructions', async () => {
  const w = await inboxWorld()
  const { workspaceId, db } = w
  const seed = Number(process.env.SEED ?? 7)
  const source = random(seed)
  const versions = [null, k1, k1, null].map((keyId, n) => {
    const at = new Date(start.getTime() + (n + 1) * 5 * dayMs)
    return { id: newId(at), keyId, at, text: n === 2 ? null : 'Be kind.' }
  })
  for (const [n, { id, keyId, at, text }] of versions.entries()) {
    await db.sql`
      insert into instruction_versions (workspace_id, id, key_id, version, text, created_at, updated_at, published_at)
      values (${workspaceId}, ${id}, ${keyId}, ${n + 1}, ${text}, ${at}, ${at}, ${at})`
  }
  const versionAt = (key: string, at: Date) => {
    const newest = (keyId: string | null) => versions.findLast((one) => one.keyId === keyId && one.at <= at)
    return [newest(key), newest(null)].find((one) => one !== undefined && one.text !== null)?.id ?? null
  }
  const expected = new Map<string, { cases: number; answered: number }>()
  const add = (name: string, isAnswered: boolean) => {
    const { cases, answered } = expected.get(name) ?? { cases: 0, answered: 0 }
    expected.set(name, { cases: cases + 1, answered: answered + Number(isAnswered) })
  }
  const inSpan: { conversationId: string; one: Recounted }[] = []
  for (let n = 0; n < 80; n++) {
    const history = randomHistory(source)
    const conversationId = await storeHistory(w, history)
    for (const one of recount(history, now)) {
      if (one.endedAt < start || one.endedAt >= now) continue
      inSpan.push({ conversationId, one })
      const day = Math.floor((one.endedAt.getTime() - start.getTime()) / dayMs) + 1
      const version = versionAt(one.key, one.answeredAt ?? one.endedAt)
      add(`${one.key} ${one.outcome} day ${day}`, one.answeredAt !== null)
      add(`${one.key} ${one.outcome} version ${version}`, one.answeredAt !== null)
    }
  }
  const span = { workspaceId, from: start, to: now, now }
  const counted = await countCases(db.sql, span, starts)
  const nameOf = ({ keyId, outcome, day, instructionsId }: CaseCount) =>
    `${keyId} ${outcome} ${day === null ? `version ${instructionsId}` : `day ${day}`}`
  const found = new Map(counted.map((one) => [nameOf(one), { cases: one.cases, answered: one.answered }]))
  const sorted = (map: typeof found) => [...map].sort(([a], [b]) => (a < b ? -1 : 1))
  assert.ok(expected.size > 80, `${expected.size} groups`)
  assert.deepEqual(sorted(found), sorted(expected), `SEED=${seed}`)

  await db.sql`analyze conversation_activities`
  await db.sql`analyze messages`
  const day = { ...span, from: new Date(start.getTime() + 9 * dayMs), to: new Date(start.getTime() + 10 * dayMs) }
  const read = await statementsOf(async () => void (await countCases(db.sql, day, starts)))
  assert.deepEqual(await findBadPlans(db, read, ['conversation_activities', 'messages']), [])

  for (const number of ['resolved', 'taken_over', 'answered'] as const) {
    const listed: string[] = []
    for (let before: string | null = null, isMore = true; isMore; ) {
      const page = await listCounted(db.sql, span, { keyId: k1, number, before, limit: 7 })
      listed.push(...page.map(({ conversationId, at }) => `${conversationId} ${at.toISOString()}`))
      before = page.at(-1)?.id ?? null
      isMore = page.length === 7
    }
    const ofNumber = inSpan.filter(({ one }) => (number === 'answered' ? one.answeredAt : one.outcome === number))
    const all = ofNumber.filter(({ one }) => one.key === k1)
    const wanted = all.map(({ conversationId, one }) => `${conversationId} ${one.endedAt.toISOString()}`)
    assert.deepEqual(listed.toSorted(), wanted.toSorted(), number)
  }
})

test('reasons are counted without regard to case and spaces, the most common first', () => {
  assert.deepEqual(countReasons(['Refund', 'no idea', 'refund ', null, 'REFUND', null]), [
    { reason: 'Refund', count: 3 },
    { reason: null, count: 2 },
    { reason: 'no idea', count: 1 },
  ])
})
