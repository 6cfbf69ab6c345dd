import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { type Db, setStatementTimeout } from '../../server/src/base/db.ts'
import { newId } from '../../server/src/base/id.ts'
import type { Child } from '../child.ts'
import { type Process, startMeter } from '../cpu-time.ts'
import { median, spreadCell } from '../figures.ts'
import { type Filling, fillMessages, fillThreads } from '../fill.ts'
import { customerPhone, fillingOf, type SeededConnection, seedConnection } from '../inbox-seed.ts'
import { measure, openExchange, requestBytes } from '../load.ts'
import { person } from '../people.ts'
import { type BenchWorkspace, fillWorkspace, makeWorkspace, teamToken } from '../workspace.ts'

const few = 1000
const opened = 100
const maxLeads = 30_000
/** Messages per conversation and statement: with 100,000 conversations, as many rows as a minute allows. */
const messagesAtOnce = 4

/** Time in which a process builds the memory index of a workspace after its first search by name. */
const warmUpMs = 5000

export interface ScaleCourse {
  db: Db
  postgres: Process
  /** Starts a product with empty caches. */
  start: () => Promise<Child>
  rounds: number
  durationMs: number
  conversations: number
  /** Per conversation. */
  messages: number
}

interface ScaleWorkspace extends BenchWorkspace {
  ids: string[]
  token: string
  memberId: string
  labelId: string
}

interface Times {
  first: number[]
  warm: number[]
  /** Processor time per request, Node and PostgreSQL together, in ms. */
  cpu: number[]
}

/**
 * Prints how long lists and threads take in a workspace with many conversations and in a small one of the same
 * database: the first answer of a started process, and the median of later ones.
 */
export async function runScale(course: ScaleCourse): Promise<void> {
  const { db, rounds, conversations, messages } = course
  const startedAt = performance.now()
  const small = await seed(db, Math.min(few, Math.ceil(conversations / 10)), messages)
  const large = await seed(db, conversations, messages)
  await db.sql.unsafe('vacuum analyze')
  console.log(`\nFilled in ${Math.round((performance.now() - startedAt) / 1000)} s.`)
  const times = new Map(requestsOf(small).map(({ name }) => [name, [newTimes(), newTimes()] as const]))
  for (let round = 0; round < rounds; round++) {
    const sides = [small, large].map((place, side) => ({ place, side }))
    for (const { place, side } of round % 2 === 0 ? sides : sides.toReversed()) {
      const product = await course.start()
      for (const { name, request } of requestsOf(place)) {
        times.get(name)?.[side]?.first.push(await firstAnswer(product, request(round)))
      }
      await product.stop()
    }
    const product = await course.start()
    for (const { place } of sides)
      for (const { request } of requestsOf(place)) await firstAnswer(product, request(round))
    await setTimeout(Math.min(warmUpMs, course.durationMs * 10))
    for (const { name } of requestsOf(small)) {
      for (const { place, side } of round % 2 === 0 ? sides : sides.toReversed()) {
        const { warm, cpu } = await measureLater(course, product, place, name)
        times.get(name)?.[side]?.warm.push(warm)
        if (cpu !== null) times.get(name)?.[side]?.cpu.push(cpu)
      }
    }
    await product.stop()
  }
  print(times, conversations, messages)
}

const newTimes = (): Times => ({ first: [], warm: [], cpu: [] })

function print(times: ReadonlyMap<string, readonly [Times, Times]>, conversations: number, messages: number): void {
  console.log(
    `\n| one connection, ${conversations} conversations of ${messages} messages beside ${few} | first answer | ratio | later ones, p50 | ratio | CPU time of those | ratio |`,
  )
  console.log('|---|---|---|---|---|---|---|')
  for (const [name, [small, large]] of times) {
    const cells = (['first', 'warm', 'cpu'] as const).flatMap((kind) => {
      const ratios = large[kind].map((ms, n) => ms / (small[kind][n] ?? ms))
      return [`${median(large[kind]).toFixed(2)} ms, ${median(small[kind]).toFixed(2)}`, spreadCell(ratios)]
    })
    console.log(`| ${name} | ${cells.join(' | ')} |`)
  }
}

async function firstAnswer({ port }: Child, request: Buffer): Promise<number> {
  const exchange = openExchange(port)
  const sent = performance.now()
  const status = await exchange.send(request)
  const ms = performance.now() - sent
  exchange.close()
  if (status < 200 || status > 299) throw new Error(`An answer had status ${status}`)
  return ms
}

async function measureLater(
  { postgres, durationMs }: ScaleCourse,
  product: Child,
  place: ScaleWorkspace,
  name: string,
) {
  const request = requestsOf(place).find((one) => one.name === name)?.request
  if (request === undefined) throw new Error(`Unknown request: ${name}`)
  const load = { host: '127.0.0.1', port: product.port, connections: 1, request }
  await measure({ ...load, durationMs: durationMs / 10 })
  const meter = startMeter(product, postgres)
  const run = await measure({ ...load, durationMs })
  if (run.failures > 0) throw new Error(`${name}: answers other than 2xx`)
  const cpu = meter(run.answers)
  return { warm: run.p50Ms, cpu: cpu === null ? null : (cpu.node + cpu.postgres) / 1000 }
}

/** Returns the requests of the app's first page and of an opened thread, with a session and with a key. */
function requestsOf(place: ScaleWorkspace): { name: string; request: (n: number) => Buffer }[] {
  const { key, token, workspaceId, ids, memberId, labelId } = place
  const team = `/api/team/v1/workspaces/${workspaceId}/inbox`
  const get = (bearer: string, path: string) => requestBytes('GET', path, { authorization: `Bearer ${bearer}` })
  const list = (query: string) => () => get(token, `${team}/conversations?limit=40${query}`)
  const one = (rest: string) => (n: number) => get(token, `${team}/conversations/${ids[n % ids.length]}${rest}`)
  const byKey = (rest: (n: number) => string) => (n: number) => get(key, `/api/v1/inbox/conversations${rest(n)}`)
  return [
    { name: 'team: all open', request: list('&status=open') },
    { name: 'team: unassigned', request: list('&status=open&view=unassigned') },
    { name: 'team: agents', request: list('&status=open&view=agents') },
    { name: 'team: of one assignee', request: list(`&status=open&assignedTo=${memberId}`) },
    { name: 'team: mine', request: list('&status=open&view=mine') },
    { name: 'team: closed', request: list('&status=closed') },
    { name: 'team: any status', request: list('') },
    { name: 'team: with a label', request: list(`&labelId=${labelId}`) },
    { name: 'team: open with a label', request: list(`&status=open&labelId=${labelId}`) },
    { name: 'team: unread', request: list('&status=open&unread=true') },
    { name: 'team: waiting longest', request: list('&status=open&sort=waiting') },
    { name: 'team: search by phone', request: (n) => list(`&search=${customerPhone(n % 100)}`)() },
    { name: 'team: search by rare name', request: (n) => list(`&search=${nameOf(n % 100)}`)() },
    { name: 'team: search by common name', request: list('&search=maria') },
    { name: 'team: counts of views', request: () => get(token, `${team}/counts`) },
    { name: 'team: conversation', request: one('') },
    { name: 'team: timeline', request: one('/timeline') },
    { name: 'team: timeline around the first unread', request: one('/timeline?around=unread') },
    { name: 'team: messages', request: one('/messages') },
    { name: 'key: 30 conversations', request: byKey(() => '') },
    { name: 'key: 30 closed', request: byKey(() => '?status=closed') },
    { name: 'key: 30 owned by people', request: byKey(() => '?owner=human') },
    { name: 'key: by phone', request: byKey((n) => `?phone=${customerPhone(n % 100)}`) },
    { name: 'key: conversation', request: byKey((n) => `/${ids[n % ids.length]}`) },
    { name: 'key: 50 messages', request: byKey((n) => `/${ids[n % ids.length]}/messages`) },
  ]
}

const nameOf = (n: number): string => encodeURIComponent(`${person(n).firstName} ${person(n).lastName}`)

async function seed(db: Db, conversations: number, each: number): Promise<ScaleWorkspace> {
  const workspace = await makeWorkspace(db)
  const filling = await fillingOf(db, workspace)
  const connection = await seedConnection(filling, workspace, 1, conversations)
  // Of all ages: users open more than the most recent conversations.
  const apart = Math.max(1, Math.floor(conversations / opened))
  const ids = connection.conversations.filter((_, n) => n % apart === 0)
  await fillScattered(filling, ids, each)
  await fillMessages(filling, connection.id, ids, each)
  const { memberId, labelId } = await decorate(filling, connection, ids)
  await fillWorkspace(db, workspace.workspaceId, Math.min(maxLeads, conversations), () => {})
  return { ...workspace, ids, memberId, labelId, token: await teamToken(db, workspace) }
}

/** Creates a member who is assigned every tenth conversation, a label on every twentieth, and notes in opened ones. */
async function decorate({ db, ...filling }: Filling, { conversations }: SeededConnection, ids: readonly string[]) {
  const { workspaceId, now } = filling
  const [memberId, labelId] = [newId(now), newId(now)]
  const every = (n: number) => conversations.filter((_, at) => at % n === 0)
  await db.sql`
    update conversations
    set assigned_to = case when id = any (${every(10)}::uuid[]) then ${memberId}::uuid end,
      label_ids = case when id = any (${every(20)}::uuid[]) then array[${labelId}::uuid] else '{}' end
    where workspace_id = ${workspaceId}
      and id = any (${[...new Set([...every(10), ...every(20)])]}::uuid[])`
  await fillThreads({ db, ...filling }, ids, memberId)
  return { memberId, labelId }
}

/** Inserts undecryptable messages by time, so that those of one conversation are scattered as in reality. */
async function fillScattered({ db, workspaceId, now }: Filling, except: readonly string[], each: number) {
  for (let from = each; from > 0; from -= messagesAtOnce) {
    await db.tx(async (tx) => {
      await setStatementTimeout(tx, 600_000)
      await tx`
        insert into messages (
          workspace_id, id, conversation_id, connection_id, direction, kind, origin, content, external_id, external_index,
          status, occurred_at, created_at
        )
        select c.workspace_id, gen_random_uuid(), c.id, c.connection_id,
          case n % 2 when 0 then 'inbound' else 'outbound' end, 'text', 'live', ${randomBytes(120)}::bytea,
          ${randomBytes(60)}::bytea, uuid_send(gen_random_uuid()), 'delivered',
          ${now}::timestamptz - n * interval '1 minute', ${now}
        from generate_series(${Math.max(1, from - messagesAtOnce + 1)}::integer, ${from}::integer) n
        cross join conversations c
        where c.workspace_id = ${workspaceId}
          and c.id <> all (${[...except]}::uuid[])
        order by n desc`
    })
  }
}
