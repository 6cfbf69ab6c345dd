import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eraseConversation } from '../../../src/inbox/erase.ts'
import { scoreOf } from '../../../src/inbox/reviews/review.ts'
import { criteriaOf, defaultCriteria, type ReviewRules } from '../../../src/inbox/reviews/review-settings.ts'
import { type Candidate, reasonsFor, selectReviews } from '../../../src/inbox/reviews/select-reviews.ts'
import { type AgentsWorld, agentsWorld } from '../../support/agents/agents-world.ts'
import { marina } from '../../support/inbox/inbox-world.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'
import { hour, minute } from './history.ts'

const noRules = { randomPerMille: 0, takeoverMinutes: null, longMessages: null, reopened: false, lowScore: false }
const all = { keyId: null, ...noRules, randomPerMille: 1000 }
const at = new Date('2026-03-10T12:00:00.000Z')

const candidate: Candidate = {
  ...{ id: '1', conversationId: '2', keyId: '3', outcome: 'taken_over', startedAt: at, endedAt: at },
  answeredAt: new Date(at.getTime() - 10 * minute),
  ...{ messages: 30, isReopened: true, instructionsId: null, lastScore: 0.49 },
}

const rules: [
  what: string,
  rule: Partial<ReviewRules>,
  one: Partial<Candidate>,
  perMille: number,
  reasons: string[],
][] = [
  ['none', {}, {}, 0, []],
  ['a random share', { randomPerMille: 50 }, {}, 49, ['random']],
  ['outside the share', { randomPerMille: 50 }, {}, 50, []],
  ['a takeover soon after an answer', { takeoverMinutes: 10 }, {}, 0, ['takeover']],
  ['a takeover later', { takeoverMinutes: 9 }, {}, 0, []],
  ['a takeover without an answer', { takeoverMinutes: 10 }, { answeredAt: null }, 0, []],
  ['a handover soon after an answer', { takeoverMinutes: 10 }, { outcome: 'handed_over' }, 0, []],
  ['long', { longMessages: 30 }, {}, 0, ['long']],
  ['shorter', { longMessages: 31 }, {}, 0, []],
  ['reopened', { reopened: true }, {}, 0, ['reopened']],
  ['not reopened', { reopened: true }, { isReopened: false }, 0, []],
  ['a low score before', { lowScore: true }, {}, 0, ['low_score']],
  ['half of the score before', { lowScore: true }, { lastScore: 0.5 }, 0, []],
  ['several', { reopened: true, longMessages: 2, randomPerMille: 1 }, {}, 0, ['reopened', 'long', 'random']],
]

for (const [what, rule, one, perMille, reasons] of rules) {
  test(`a case is selected by its rules: ${what}`, () => {
    const found = reasonsFor({ ...candidate, ...one }, { keyId: null, ...noRules, ...rule }, perMille)
    assert.deepEqual(found, reasons)
  })
}

test('a score is the mean of the steps; unknown criteria and steps are refused', () => {
  const criteria = [
    { id: 'a', name: 'A', steps: 5 as const },
    { id: 'b', name: 'B', steps: 3 as const },
  ]
  assert.equal(scoreOf({ a: 1, b: 3 }, criteria), 0.5)
  assert.equal(scoreOf({ a: 4 }, criteria), 0.75)
  assert.throws(() => scoreOf({ b: 4 }, criteria), { statusCode: 400 })
  assert.throws(() => scoreOf({ c: 1 }, criteria), { statusCode: 400 })
  assert.throws(() => scoreOf({}, criteria), { statusCode: 400 })
})

test('criteria keep their id with another name, and get a new one with other steps', () => {
  const renamed = { id: 'solved', name: ' Solved it ', steps: 5 as const }
  const shorter = { id: 'tone', name: 'Tone', steps: 3 as const }
  const [first, second, third] = criteriaOf([renamed, shorter, { name: 'New', steps: 3 }], defaultCriteria, at)
  assert.deepEqual(first, { id: 'solved', name: 'Solved it', steps: 5 })
  assert.match(`${second?.id} ${third?.id}`, /^[0-9a-f-]{36} [0-9a-f-]{36}$/)
  assert.throws(() => criteriaOf([{ id: 'x', name: 'X', steps: 5 }], defaultCriteria, at), { statusCode: 400 })
  assert.throws(() => criteriaOf([{ name: null, steps: 5 }], defaultCriteria, at), { statusCode: 400 })
  assert.throws(() => criteriaOf([renamed, renamed], defaultCriteria, at), { statusCode: 400 })
})

async function reviewWorld(rule: Partial<ReviewRules> = {}, dailyLimit = 20) {
  const w = await agentsWorld()
  // The tests share a clock; a day has a limit.
  const noon = new Date(w.clock.now().getTime() + 24 * hour)
  noon.setUTCHours(12, 0, 0, 0)
  w.clock.set(noon)
  // Those of earlier tests are left alone.
  await w.db.sql`update review_settings set selected_until = null`
  const [admin, member] = [await signedInMember(w, 'admin'), await signedInMember(w)]
  const { status, body } = await admin.call('PATCH', '/review-settings', { rules: [{ ...all, ...rule }], dailyLimit })
  assert.equal(status, 200, JSON.stringify(body))
  const select = () => selectReviews(w)
  const waiting = async (as: TestMember = member) => (await as.call('GET', '/reviews')).body.reviews
  return { w, admin, member, select, waiting }
}

let customers = 0

/** A customer writes, the agent answers, and a person takes over or closes. */
async function endedCase(w: AgentsWorld, by: TestMember, how: 'take over' | 'close' = 'close'): Promise<string> {
  const phone = `5581${990_000_000 + ++customers}`
  const { id } = await w.customerWrites('Where is it?', { customer: { ...marina, phone } })
  w.clock.advance(1000)
  await w.callTool('read_conversation', { conversation_id: id })
  const { status } = await w.callTool('answer', { conversation_id: id, text: 'It left this morning.' })
  assert.equal(status, 200)
  w.clock.advance(1000)
  const place = `/inbox/conversations/${id}`
  if (how === 'close') await by.call('PATCH', place, { status: 'resolved' })
  else await by.call('POST', `${place}/take-over`)
  w.clock.advance(2 * minute)
  return id
}

test('cases that end are selected once, however often and on whichever node the job runs', async () => {
  const { w, member, select, waiting } = await reviewWorld()
  const id = await endedCase(w, member)
  await Promise.all([select(), select(), select()])
  const [review, ...others] = await waiting()
  assert.equal(others.length, 0)
  assert.deepEqual(
    [review.conversationId, review.name, review.keyId, review.outcome, review.reasons, review.status],
    [id, 'Marina Duarte', w.agent.id, 'recent', ['random'], 'waiting'],
  )
  assert.ok(review.messageId !== null && review.startedAt < review.endedAt)
  w.clock.advance(hour)
  await select()
  assert.equal((await waiting()).length, 1)
})

test('nothing is selected without rules, nor what ended before the first rules', async () => {
  const w = await agentsWorld()
  const admin = await signedInMember(w, 'admin')
  await endedCase(w, admin)
  await selectReviews(w)
  await admin.call('PATCH', '/review-settings', { rules: [all] })
  w.clock.advance(2 * minute)
  await selectReviews(w)
  assert.deepEqual((await admin.call('GET', '/reviews')).body.reviews, [])
  await admin.call('PATCH', '/review-settings', { rules: [] })
  await endedCase(w, admin)
  await selectReviews(w)
  assert.deepEqual((await admin.call('GET', '/reviews')).body.reviews, [])
})

test("a key's own rules replace those of all keys", async () => {
  const { w, admin, member, select, waiting } = await reviewWorld()
  await admin.call('PATCH', '/review-settings', { rules: [all, { ...noRules, keyId: w.agent.id }] })
  await endedCase(w, member)
  await select()
  assert.deepEqual(await waiting(), [])
})

test('a conversation that is opened again within 72 hours is selected then', async () => {
  const { w, member, select, waiting } = await reviewWorld({ randomPerMille: 0, reopened: true })
  const id = await endedCase(w, member)
  await select()
  assert.deepEqual(await waiting(), [])
  w.clock.advance(70 * hour)
  await select()
  await member.call('PATCH', `/inbox/conversations/${id}`, { status: 'open' })
  w.clock.advance(2 * minute)
  await select()
  const [review] = await waiting()
  assert.deepEqual([review.conversationId, review.reasons, review.outcome], [id, ['reopened'], 'reopened'])
})

test('a day selects at most its limit, takeovers before random ones; the next day goes on', async () => {
  const { w, member, select, waiting } = await reviewWorld({ takeoverMinutes: 5 }, 2)
  await endedCase(w, member)
  await endedCase(w, member)
  const taken = await endedCase(w, member, 'take over')
  await select()
  const reviews = await waiting()
  assert.equal(reviews.length, 2)
  assert.deepEqual(
    reviews.flatMap((one: { reasons: string[]; conversationId: string }) =>
      one.reasons.includes('takeover') ? one.conversationId : [],
    ),
    [taken],
  )
  await endedCase(w, member)
  await select()
  assert.equal((await waiting()).length, 2)
  w.clock.advance(24 * hour)
  await endedCase(w, member)
  await select()
  assert.equal((await waiting()).length, 3)
  w.clock.advance(14 * 24 * hour)
  const other = await signedInMember(w)
  await endedCase(w, other)
  await select()
  assert.equal((await waiting(other)).length, 1, 'what nobody has begun in 14 days is removed')
})

test('of two people who begin a review at once one gets it, until the time is over', async () => {
  const { w, admin, member, select, waiting } = await reviewWorld()
  await endedCase(w, member)
  await select()
  const [{ id }] = await waiting()
  const both = await Promise.all([admin, member].map((by) => by.call('POST', `/reviews/${id}/claim`)))
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409])
  const [winner, loser] = both[0]?.status === 200 ? [admin, member] : [member, admin]
  const refused = await loser.call('PUT', `/reviews/${id}`, { scores: { solved: 1 } })
  assert.deepEqual([refused.status, refused.body.data.code], [409, 'REVIEW_CLAIMED'])
  assert.equal((await waiting())[0].claimedBy, winner.userId)
  assert.equal((await winner.call('POST', `/reviews/${id}/claim`)).status, 200, 'the person can begin again')
  w.clock.advance(16 * minute)
  assert.equal((await waiting())[0].claimedBy, null)
  assert.equal((await loser.call('POST', `/reviews/${id}/skip`)).status, 200)
  assert.equal((await loser.call('POST', `/reviews/${id}/skip`)).status, 200, 'a repeat changes nothing')
  const closed = await winner.call('PUT', `/reviews/${id}`, { scores: { solved: 1 } })
  assert.deepEqual([closed.status, closed.body.data.code], [409, 'REVIEW_CLOSED'])
  assert.equal((await member.call('GET', '/reviews?status=skipped')).body.reviews.length, 1)
})

test('a review has scores, flags and an encrypted comment, and its person can correct it', async () => {
  const { w, admin, member, select, waiting } = await reviewWorld()
  await endedCase(w, member)
  await select()
  const [{ id }] = await waiting()
  const path = `/reviews/${id}`
  assert.equal((await member.call('PUT', path, { scores: {} })).status, 400)
  assert.equal((await member.call('PUT', path, { scores: { nothing: 1 } })).status, 400)
  const verdict = { scores: { solved: 1, tone: 5 }, flags: ['wrong_answer'], comment: 'Marina asked for zyxword' }
  const { status, body } = await member.call('PUT', path, verdict)
  assert.deepEqual([status, body.review.score, body.review.comment], [200, 0.5, verdict.comment])
  const [row] = await w.db.sql<{ comment: Buffer }[]>`
    select comment
    from reviews
    where workspace_id = ${w.workspaceId}`
  assert.ok(!row?.comment.toString('utf8').includes('zyxword'))
  assert.equal((await admin.call('PUT', path, verdict)).status, 409, 'only the person who reviewed it')
  const corrected = await member.call('PUT', path, { scores: { solved: 5 }, comment: ' ' })
  assert.deepEqual(
    [corrected.body.review.score, corrected.body.review.comment, corrected.body.review.flags],
    [1, null, []],
  )
  assert.equal((await member.call('GET', '/reviews?status=reviewed')).body.reviews.length, 1)
})

test('results are by agent, version of its instructions and day', async () => {
  const { w, admin, member, select, waiting } = await reviewWorld()
  const version = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
  await endedCase(w, member)
  await w.db.sql`
    insert into instruction_versions (workspace_id, id, key_id, version, text, created_at, updated_at, published_at)
    values (
      ${w.workspaceId}, ${version}, ${w.agent.id}, 3, 'Be kind.', ${w.clock.now()}, ${w.clock.now()}, ${w.clock.now()}
    )`
  w.clock.advance(1000)
  await endedCase(w, member)
  await select()
  const verdicts = [
    { scores: { solved: 1, tone: 1 }, flags: ['tone', 'wrong_answer'] },
    { scores: { solved: 5 }, flags: ['tone'] },
  ]
  for (const [n, { id }] of (await waiting()).entries()) await member.call('PUT', `/reviews/${id}`, verdicts[n])
  const { body } = await admin.call('GET', '/review-results')
  const [agent] = body.agents
  assert.deepEqual([agent.keyId, agent.reviews, agent.score], [w.agent.id, 2, 0.5])
  assert.deepEqual(agent.criteria, [
    { id: 'solved', reviews: 2, meanStep: 3 },
    { id: 'tone', reviews: 1, meanStep: 1 },
  ])
  assert.deepEqual(agent.flags, [
    { flag: 'tone', reviews: 2 },
    { flag: 'wrong_answer', reviews: 1 },
  ])
  assert.deepEqual(
    agent.versions.map((one: Record<string, unknown>) => [one.id, one.keyId, one.version, one.score]),
    [
      [version, w.agent.id, 3, 1],
      [null, null, null, 0],
    ],
  )
  const date = w.clock.now().toISOString().slice(0, 10)
  assert.deepEqual(agent.days, [{ date, reviews: 2, score: 0.5 }])
})

test('an erased conversation takes its reviews with it', async () => {
  const { w, member, select, waiting } = await reviewWorld()
  const id = await endedCase(w, member)
  await select()
  await w.db.tx((tx) => eraseConversation(tx, w.workspaceId, id))
  assert.deepEqual(await waiting(), [])
  const [{ count }] = await w.db.sql<[{ count: number }]>`
    select count(*)::integer as count
    from reviews
    where workspace_id = ${w.workspaceId}`
  assert.equal(count, 0)
})

test('settings name keys of the workspace and are in the audit log', async () => {
  const { admin } = await reviewWorld()
  const before = (await admin.call('GET', '/review-settings')).body
  assert.deepEqual(before, { criteria: defaultCriteria, dailyLimit: 20, rules: [all] })
  const strange = [{ ...all, keyId: '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e' }]
  assert.equal((await admin.call('PATCH', '/review-settings', { rules: strange })).status, 400)
  assert.equal((await admin.call('PATCH', '/review-settings', { rules: [all, all] })).status, 400)
  const { entries } = (await admin.call('GET', '/audit')).body
  assert.ok(entries.some(({ action }: { action: string }) => action === 'review_settings.updated'))
})
