import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordEvents } from '../../src/events/record.ts'
import { bucketOf, secondsOf } from '../../src/reports/fact.ts'
import {
  type History,
  isClosed,
  random,
  randomHistory,
  recount as recountCases,
  storeHistory,
} from '../inbox/reviews/history.ts'
import { leadsPath } from '../support/leads/leads.ts'
import { countedRows, type ReportWorld, reportWorld } from './report-world.ts'

const seed = Number(process.env.SEED ?? 3)
const zones = ['UTC', 'America/Sao_Paulo', 'Asia/Kolkata', 'Pacific/Auckland']
const after = new Date('2027-06-01T00:00:00Z')
/** All days on which anything happens. */
const period = '?from=2026-01-10&to=2026-12-31'

type Random = ReturnType<typeof random>
interface Counted {
  number: string
  at: Date
  ms: number | null
}

/** The definitions of reports again, from the first event to the last. */
function recount(history: History): Counted[] {
  const found: Counted[] = []
  const add = (number: string, at: Date, ms: number | null = null) => found.push({ number, at, ms })
  let [hasBegun, before]: [boolean, string | null] = [false, null]
  // Of the turn of the customer, and of the request.
  let [askedAt, requestAt]: [Date | null, Date | null] = [null, null]
  for (const step of history) {
    const { at } = step
    if (step.what === 'status' && isClosed(step.to) !== isClosed(step.from)) {
      if (isClosed(step.to)) {
        add('closed_by_people', at, requestAt === null ? null : at.getTime() - requestAt.getTime())
        requestAt = null
      } else add('reopened', at)
    }
    if (step.what !== 'message' || step.by === 'history' || step.by === 'failed' || step.by === 'system') continue
    const direction = step.by === 'customer' ? 'inbound' : 'outbound'
    if (!hasBegun) add(direction === 'inbound' ? 'new_by_customer' : 'new_by_team', at)
    hasBegun = true
    if (direction === 'inbound') requestAt ??= at
    if (direction === before) continue
    if (direction === 'inbound') askedAt = at
    else if (askedAt !== null) {
      const by = step.by === 'echo' ? 'apps' : step.by === 'user' ? 'people' : 'agents'
      add(`answers_by_${by}`, at, at.getTime() - askedAt.getTime())
    }
    before = direction
  }
  for (const one of recountCases(history, after)) add(`case_${one.outcome}`, one.endedAt)
  return found
}

/** Has the conversation counted again, as after any change. */
async function announce({ db, keyStore, workspaceId, connectionId, clock }: ReportWorld, subjectId: string) {
  const keyring = await keyStore.keyring(workspaceId)
  const event = { name: 'inbox.message.received', subjectId, connectionId, payload: {} } as const
  await db.tx((tx) => recordEvents(tx, keyring, workspaceId, [event], clock.now()))
}

const outcomes: Record<string, 'good' | 'neutral' | 'bad'> = {
  ...{ '3/1': 'bad', '3/2': 'neutral', '3/3': 'good' },
  ...{ '5/1': 'bad', '5/2': 'bad', '5/3': 'neutral', '5/4': 'good', '5/5': 'good' },
}

/** Stores a question about satisfaction, which the customer has answered or not. */
async function rate({ db, workspaceId, connectionId }: ReportWorld, id: string, { next, pick }: Random) {
  const [scale = '', score = ''] = pick(Object.keys(outcomes)).split('/')
  const at = new Date(Date.parse('2026-02-01T00:00:00Z') + Math.floor(next() * 100) * 3_600_000)
  const status = pick(['rated', 'rated', 'asked', 'cancelled'])
  await db.sql`
    insert into satisfaction_ratings (
      workspace_id, id, conversation_id, connection_id, closing_id, status, answered_by, answerer_id, scale, score,
      created_at, rated_at
    )
    values (
      ${workspaceId}, gen_random_uuid(), ${id}, ${connectionId}, gen_random_uuid(), ${status}, 'agent', gen_random_uuid(),
      ${Number(scale)}, ${status === 'rated' ? Number(score) : null}, ${at}, ${status === 'rated' ? at : null}
    )`
  return status === 'rated' ? [{ number: `ratings_${outcomes[`${scale}/${score}`]}`, at, ms: null }] : []
}

/** Conversations whose parts arrive in any order, some of them twice, while they are counted. */
async function playConversations(w: ReportWorld, { next, pick }: Random): Promise<Counted[]> {
  const parts: { id: string; rest: History }[] = []
  const all: Counted[] = []
  for (let n = 0; n < 6; n++) {
    const history = randomHistory({ next, pick })
    const early = history.filter(() => next() < 0.6)
    const id = await storeHistory(w, early)
    await announce(w, id)
    parts.push({ id, rest: history.filter((step) => !early.includes(step)) })
    all.push(...recount(history))
    if (next() < 0.4) await w.count()
  }
  for (const { id, rest } of parts.toSorted(() => next() - 0.5)) {
    await storeHistory(w, rest, id)
    if (next() < 0.6) all.push(...(await rate(w, id, { next, pick })))
    await announce(w, id)
    if (next() < 0.5) await announce(w, pick(parts).id)
    if (next() < 0.3) await w.count()
  }
  await w.count()
  return all
}

/** Leads that are created, changed and deleted; returns those that remain. */
async function playLeads(w: ReportWorld, { next, pick }: Random) {
  const leads: { source: string; status: string; value: number | null }[] = []
  for (let n = 0; n < 6; n++) {
    const source = pick(['ads', 'website', 'referral'])
    const estimatedValue = pick([undefined, 100, 250.5])
    const { id } = await w.lead({ source, ...(estimatedValue !== undefined && { estimatedValue }) })
    if (next() < 0.3) await w.count()
    const actualValue = pick([undefined, 80.25])
    const status = pick(['new', 'won', 'lost'])
    const body = { status, ...(actualValue !== undefined && { actualValue }) }
    const changed = await w.call('PATCH', `${leadsPath}/${id}`, { body })
    assert.equal(changed.status, 200, JSON.stringify(changed.body))
    if (next() < 0.2) await w.call('DELETE', `${leadsPath}/${id}`)
    else leads.push({ source, status, value: actualValue ?? estimatedValue ?? null })
  }
  return leads
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0)

function medianOf(times: readonly number[]): number | null {
  const sorted = times.map(bucketOf).sort((a, b) => a - b)
  const bucket = sorted[Math.ceil(sorted.length / 2) - 1]
  return bucket === undefined ? null : secondsOf(bucket)
}

for (let n = 0; n < 10; n++) {
  test(`reports of random workspace ${n} equal a plain recount, also when everything is counted again`, async () => {
    const w = await reportWorld()
    const source = random(seed * 1000 + n)
    const zone = source.pick(zones)
    await w.db.sql`
      update workspaces
      set hours = ${w.db.sql.json({ timeZone: zone, week: {} })}
      where id = ${w.workspaceId}`
    const events = await playConversations(w, source)
    const leads = await playLeads(w, source)
    await w.count()

    assert.ok(events.length > 10, `only ${events.length} to count`)
    const report = await w.report(w.admin, period)
    const ofNumber = (number: string) => events.filter((one) => one.number === number)
    const expected = Object.fromEntries(Object.keys(report.counts).map((number) => [number, ofNumber(number).length]))
    expected.new = ofNumber('new_by_customer').length + ofNumber('new_by_team').length
    expected.closed = ofNumber('closed_by_people').length
    expected.answers = sumOf(['people', 'agents', 'apps'].map((by) => ofNumber(`answers_by_${by}`).length))
    expected.ratings = sumOf(['good', 'neutral', 'bad'].map((outcome) => ofNumber(`ratings_${outcome}`).length))
    expected.leads = leads.length
    expected.leads_won = leads.filter(({ status }) => status === 'won').length
    const found = Object.fromEntries(
      Object.entries<{ now: number }>(report.counts).map(([number, { now }]) => [number, now]),
    )
    assert.deepEqual(found, expected, `SEED=${seed}`)

    const timesOf = (number: string) => ofNumber(number).flatMap(({ ms }) => ms ?? [])
    assert.equal(report.times.answerOfAgents.now?.medianSeconds ?? null, medianOf(timesOf('answers_by_agents')))
    assert.equal(report.times.resolution.now?.medianSeconds ?? null, medianOf(timesOf('closed_by_people')))
    const won = sumOf(leads.flatMap(({ status, value }) => (status === 'won' ? (value ?? 0) : [])))
    const shownWon = report.leads.find(({ status }: { status: string }) => status === 'won')?.amount ?? '0'
    assert.equal(Number(shownWon), won)

    const dayOf = (at: Date) => new Intl.DateTimeFormat('sv-SE', { timeZone: zone }).format(at)
    const closings = Map.groupBy(ofNumber('closed_by_people'), ({ at }) => dayOf(at))
    for (const { date, closed } of report.days) assert.equal(closed, closings.get(date)?.length ?? 0, date)

    const before = await countedRows(w)
    const { status } = await w.admin.call('POST', '/reports/rebuild', {})
    assert.equal(status, 200)
    await w.count()
    assert.deepEqual(await countedRows(w), before)
  })
}
