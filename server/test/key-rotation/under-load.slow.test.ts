import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { buildApp } from '../../src/app/app.ts'
import { openKeyStore } from '../../src/base/encryption/key-store.ts'
import { testDatabase } from '../support/database.ts'
import { atEnd } from '../support/file-lifecycle.ts'
import { type InboxWorld, inboxWorld } from '../support/inbox/inbox-world.ts'
import { oldRows, requestRotation, runningRotations } from '../support/key-rotation/rotate-keys.ts'
import { leadPath, leadsPath } from '../support/leads/leads.ts'
import { startProgram } from '../support/program/program.ts'
import { type CallOptions, callerOf } from '../support/world.ts'
import type { RotatingTask } from './rotating-program.ts'

const clientCount = 8
/** `ROTATION_SEARCHES=10000` takes minutes. */
const wantedSearches = Number(process.env.ROTATION_SEARCHES ?? 200)
const kills = wantedSearches >= 10_000 ? 20 : 2
const program = fileURLToPath(new URL('./rotating-program.ts', import.meta.url))

test(`${clientCount} clients of two nodes see no errors while a killed process rotates all keys`, {
  timeout: 1_200_000,
}, async (t) => {
  const w = await inboxWorld({ key: { scopes: ['leads.read', 'leads.write'] } })
  for (let n = 0; n < 300; n++) await w.lead({ firstName: `Still ${n}`, notes: 'note', phone: `4930${1_000_000 + n}` })
  const before = await still(w)
  const nodes = [w.call, await secondNode(w)]
  const crowd = Array.from({ length: clientCount }, (_, number) => startClient(w, nodes, number))
  const searches = () => crowd.reduce((sum, { right }) => sum + right.searches, 0)
  let [killed, version] = [0, 1]
  while (version === 1 || searches() < wantedSearches || killed < kills) {
    version++
    for (const purpose of ['index', 'data'] as const) {
      await requestRotation(w, { purpose, workspaceId: w.workspaceId })
      while ((await runningRotations(w.db)) > 0) {
        if (await rotateUntilKilled(w, killed < kills)) killed++
        await settle(w, crowd)
      }
      await settle(w, crowd)
      assert.deepEqual(await oldRows(w.db, w.workspaceId, purpose, version), [])
    }
  }
  for (const client of crowd) await client.end()
  assert.deepEqual(await still(w), before)
  const others = crowd.reduce((sum, { right }) => sum + right.others, 0)
  const done = `${version - 1} rotations of each key, ${killed} kills`
  t.diagnostic(`${done}; right answers: ${searches()} searches, ${others} look-ups and writes`)
})

/** A node whose keys are loaded at other times than those of the first one. */
async function secondNode(w: InboxWorld): Promise<InboxWorld['call']> {
  const keyStore = openKeyStore(w.db, { current: Buffer.alloc(32, 7) }, w.clock)
  const app = await buildApp({ ...w, keyStore })
  await app.ready()
  atEnd(() => app.close())
  return callerOf(app, w.key)
}

/** Lets time pass as the service takes it to pass: no request uses keys for longer than 20 s after they were loaded. */
async function settle(w: InboxWorld, crowd: ReturnType<typeof startClient>[]): Promise<void> {
  for (let pause = 0; pause < 3; pause++) {
    w.clock.advance(10_000)
    await Promise.all(crowd.map((client) => client.idle()))
  }
}

/** Rotates in a process of its own. Answers whether that was killed before it had done all that was due. */
async function rotateUntilKilled(w: InboxWorld, mayDie: boolean): Promise<boolean> {
  const { options: database } = await testDatabase()
  const task: RotatingTask = { database, now: w.clock.now().toISOString() }
  let left = mayDie ? randomInt(1, 5) : Number.POSITIVE_INFINITY
  const onLine = () => void (--left === 0 && child.kill())
  const child = startProgram([program, JSON.stringify(task)], { onLine })
  const end = await child.exited
  assert.ok(end === 0 || end === 'SIGKILL')
  return end === 'SIGKILL'
}

/** Change times and events of the leads that no client touches. */
async function still({ db, workspaceId }: InboxWorld): Promise<unknown[]> {
  const rows = await db.sql`
    select l.id, l.updated_at, count(e.id) as events
    from leads l
    left join events e on e.workspace_id = l.workspace_id and e.subject_id = l.id
    where l.workspace_id = ${workspaceId}
      and l.created_at <= (select min(created_at) from leads where workspace_id = ${workspaceId})
      and l.notes is not null
    group by l.id, l.updated_at
    order by l.id`
  return [...rows]
}

const syllables = ['ba', 'ce', 'di', 'fo', 'gu', 'há', 'jé', 'ki', 'lo', 'mu', 'nã', 'pe', 'qui', 'ro', 'su', 'tê']
const word = () => Array.from({ length: 3 }, () => syllables[randomInt(syllables.length)]).join('')
const fold = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()

/** Writes leads that only this client writes, on one node and the other, and compares each answer with what there is to find of them. */
function startClient(_w: InboxWorld, nodes: readonly InboxWorld['call'][], number: number) {
  const leads: { id: string; firstName: string; lastName: string; phone: string; email: string }[] = []
  const right = { searches: 0, others: 0 }
  const any = <T>(all: readonly T[]): T => all[randomInt(all.length)] as T
  const phoneOf = (n: number) => `55${11 + number}9${String(90_000_000 + n)}`
  const call = async (method: 'GET' | 'POST' | 'PATCH', path: string, options: CallOptions = {}) => {
    const answer = await any(nodes)(method, path, options)
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const create = async () => {
    const names = { firstName: word(), lastName: `${word()} ${word()}` }
    const fields = { ...names, phone: phoneOf(leads.length), email: `${word()}${leads.length}@c${number}.test` }
    const { data } = await call('POST', leadsPath, { body: fields })
    leads.push({ id: data.id, ...fields })
  }
  const rename = async () => {
    const [lead, firstName] = [any(leads), word()]
    await call('PATCH', leadPath(lead.id), { body: { firstName } })
    lead.firstName = firstName
  }
  const lookUp = async () => {
    const lead = any(leads)
    assert.partialDeepStrictEqual((await call('GET', leadPath(lead.phone))).data, { ...lead })
  }
  const search = async () => {
    const lead = any(leads)
    const text = any([lead.firstName, lead.lastName, lead.email, lead.phone])
    const start = randomInt(Math.max(1, text.length - 5))
    const term = text.slice(start, start + 6).trim()
    if (fold(term).length < 3) return
    const found = new Set<string>()
    for (let cursor = ''; cursor !== null; ) {
      const query = { search: term, limit: '100', ...(cursor !== '' && { cursor }) }
      const page = await call('GET', leadsPath, { query })
      for (const { id } of page.data) found.add(id)
      cursor = page.pagination.nextCursor
    }
    const isFound = ({ firstName, lastName, email, phone }: typeof lead) =>
      [`${firstName} ${lastName}`, email, phone].some((line) => fold(line).includes(fold(term)))
    assert.deepEqual(
      leads.filter((known) => isFound(known) !== found.has(known.id)),
      [],
      `search for ${term}`,
    )
    right.searches++
  }

  const acts = [create, rename, lookUp, lookUp, search, search, search]
  let isOver = false
  let running = Promise.resolve()
  const run = (async () => {
    for (let n = 0; n < 5; n++) await create()
    while (!isOver) {
      const act = any(leads.length > 300 ? acts.slice(1) : acts)
      running = act()
      await running
      if (act !== search) right.others++
    }
  })()
  return {
    right,
    /** Resolves when what is on its way now has been answered; fails when one saw something wrong. */
    idle: () => Promise.race([running, run]),
    end: () => {
      isOver = true
      return run
    },
  }
}
