import { systemClock } from '../../../server/src/base/clock.ts'
import type { Db } from '../../../server/src/base/db.ts'
import { openKeyStore } from '../../../server/src/base/encryption/key-store.ts'
import { indexInbox } from '../../../server/src/inbox/search/index-inbox.ts'
import type { Child } from '../../child.ts'
import { type CpuTime, startMeter } from '../../cpu-time.ts'
import { cpuCell, medianCpu } from '../../figures.ts'
import { fillingOf, seedConnection } from '../../inbox-seed.ts'
import { openExchange, requestBytes } from '../../load.ts'
import { vacuum } from '../../load-leads.ts'
import { benchMasterKey, makeWorkspace, teamToken } from '../../workspace.ts'
import { type BesideCourse, besideCallbacks } from './beside-callbacks.ts'
import { chatText, formerTopic, wordOf } from './chat-words.ts'
import { fillChats } from './fill-messages.ts'

export interface MessageSearchCourse extends BesideCourse {
  db: Db
  startNode: () => Promise<Child>
  messages: number
}

const messagesEach = 50
const tables = ['messages', 'message_search', 'conversation_search', 'conversations']

export interface MessageSearchFigures {
  messages: number
  indexed: { seconds: number; cpu: CpuTime | null; bytesEach: Record<string, number> }
  searches: (Times & { name: string; found: number })[]
}

/** Measures search in many messages: the cost of creating tokens, storing them and searching, also during intake. */
export async function runMessageSearch(course: MessageSearchCourse): Promise<MessageSearchFigures> {
  const { db, database, messages } = course
  const workspace = await makeWorkspace(db)
  const filling = await fillingOf(db, workspace)
  const connection = await seedConnection(filling, workspace, 1, Math.max(400, Math.ceil(messages / messagesEach)))
  const startedAt = performance.now()
  await fillChats(filling, connection, messages)
  console.log(`\n${messages} messages filled in ${Math.round((performance.now() - startedAt) / 1000)} s.`)
  await vacuum(database, tables)
  const indexed = await index(course)
  await vacuum(database, tables)
  const bytesEach = await sizes(db, messages)
  const each = Object.entries(bytesEach).map(([name, bytes]) => `${name} ${bytes}`)
  console.log(
    `Tokens made in ${indexed.seconds} s, ${cpuCell(indexed.cpu)} µs a message; bytes a message: ${each.join(', ')}.`,
  )
  const token = await teamToken(db, workspace)
  const node = await course.startNode()
  const searches = []
  for (const trial of searchClasses(messages)) {
    searches.push(await timesOf(course, node, `/api/team/v1/workspaces/${workspace.workspaceId}/inbox`, token, trial))
  }
  print(messages, searches)
  await besideCallbacks(course, node, connection)
  return { messages, indexed: { ...indexed, bytesEach }, searches }
}

async function index({ db, postgres }: MessageSearchCourse) {
  const [startedAt, own] = [performance.now(), process.cpuUsage()]
  const meter = startMeter({ pid: process.pid }, postgres)
  const keyStore = openKeyStore(db, { current: benchMasterKey }, systemClock)
  let passed = 0
  for (let more = 1; more > 0; passed += more) more = await indexInbox({ db, keyStore, clock: systemClock })
  const used = process.cpuUsage(own)
  const cpu = meter(Math.max(1, passed))
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10
  return { seconds, cpu: cpu === null ? null : { node: (used.user + used.system) / passed, postgres: cpu.postgres } }
}

async function sizes(db: Db, messages: number): Promise<Record<string, number>> {
  const rows = await db.sql<{ name: string; bytes: number }[]>`
    select c.relname as name, pg_relation_size(c.oid)::double precision as bytes
    from pg_class c
    where c.relname in ('message_search', 'message_search_pkey', 'message_search_tokens', 'messages', 'messages_pkey')
    order by c.relname`
  return Object.fromEntries(rows.map(({ name, bytes }) => [name, Math.round(bytes / messages)]))
}

interface SearchClass {
  name: string
  /** Searched one after the other. */
  terms: readonly string[]
  path?: 'conversations'
}

/** Returns several terms per class, so that no page is read twice in a row. */
function searchClasses(messages: number): SearchClass[] {
  const many = (make: (n: number) => string) => Array.from({ length: 20 }, (_, n) => make(n))
  const numbers = many((n) => /\d{5}/.exec(textWithNumber(n * 997, messages))?.[0] ?? '12345')
  return [
    { name: 'a word in most messages', terms: many((n) => wordOf(n % 3)) },
    { name: 'a word in every 100th message', terms: many((n) => wordOf(60 + n)) },
    { name: 'a word in every 3,000th', terms: many((n) => wordOf(3_000 + n)) },
    { name: 'a word in every 30,000th', terms: many((n) => wordOf(29_000 + n * 40)) },
    { name: 'a number in one message', terms: numbers },
    { name: 'two common words', terms: many((n) => `${wordOf(n % 5)} ${wordOf(20 + n)}`) },
    { name: 'two words in every 1,000th', terms: many((n) => `${wordOf(700 + n)} ${wordOf(800 + n)}`) },
    { name: 'a phrase of two common words', terms: many((n) => `"${wordOf(5 + n)} ${wordOf(30 + n)}"`) },
    { name: 'a formerly common word', terms: [formerTopic] },
    { name: 'a prefix of three letters', terms: many((n) => wordOf(100 + n).slice(0, 3)) },
    { name: 'a prefix of four', terms: many((n) => wordOf(2_000 + n).slice(0, 4)) },
    { name: 'a prefix of five', terms: many((n) => wordOf(2_000 + n).slice(0, 5)) },
    { name: 'a prefix of four without matches', terms: many((n) => `${wordOf(2_000 + n).slice(0, 3)}w`) },
    { name: 'a word without matches', terms: many((n) => `zzxqj${n}`) },
    { name: 'conversations by a common name', terms: many((n) => `Ana ${n % 9}`), path: 'conversations' },
    {
      name: 'a conversation by its name',
      terms: many((n) => `Ana ${Math.floor(messages / 60) + n}`),
      path: 'conversations',
    },
    {
      name: 'a conversation by six digits',
      terms: many((n) => String(900_000 + n).slice(0, 6)),
      path: 'conversations',
    },
    { name: 'a conversation without matches', terms: many((n) => `zzxqj${n}`), path: 'conversations' },
  ]
}

function textWithNumber(from: number, messages: number): string {
  for (let n = from; n < messages; n++) if (/\d{5}/.test(chatText(n, messages))) return chatText(n, messages)
  return ''
}

interface Times {
  p50: number
  p95: number
  cpu: CpuTime | null
}

const asked = 40

async function timesOf(
  { postgres, rounds }: MessageSearchCourse,
  node: Child,
  path: string,
  token: string,
  { name, terms, path: list }: SearchClass,
): Promise<Times & { name: string; found: number }> {
  const headers = { authorization: `Bearer ${token}` }
  const query = (n: number) => `limit=20&search=${encodeURIComponent(terms[n % terms.length] ?? '')}`
  const url = (n: number) => `${path}/${list ?? 'messages'}?${query(n)}`
  const exchange = openExchange(node.port)
  const ms: number[] = []
  const ask = async (n: number) => {
    const sent = performance.now()
    const status = await exchange.send(requestBytes('GET', url(n), headers))
    if (status !== 200) throw new Error(`${name}: status ${status}`)
    return performance.now() - sent
  }
  for (let n = 0; n < 5; n++) await ask(n)
  const meter = startMeter(node, postgres)
  for (let n = 0; n < asked * rounds; n++) ms.push(await ask(n))
  const cpu = meter(ms.length)
  exchange.close()
  const answer = await fetch(`http://127.0.0.1:${node.port}${url(0)}`, { headers })
  const found = Object.values((await answer.json()) as Record<string, unknown[]>)[0]?.length ?? 0
  const inOrder = ms.sort((a, b) => a - b)
  const at = (share: number) => inOrder[Math.min(ms.length - 1, Math.floor(ms.length * share))] ?? 0
  return { name, found, p50: at(0.5), p95: at(0.95), cpu }
}

function print(messages: number, searches: (Times & { name: string; found: number })[]): void {
  console.log(`\n| first page of 20, ${messages} messages, 1 client | found | p50 | p95 | Node + PostgreSQL, µs |`)
  console.log('|---|---:|---:|---:|---|')
  for (const { name, found, p50, p95, cpu } of searches) {
    console.log(`| ${name} | ${found} | ${p50.toFixed(1)} ms | ${p95.toFixed(1)} ms | ${cpuCell(medianCpu([cpu]))} |`)
  }
}
