import { setTimeout as sleep } from 'node:timers/promises'
import { createApiKey } from '../../server/src/auth/api-keys/change-key.ts'
import { systemClock } from '../../server/src/base/clock.ts'
import type { Db } from '../../server/src/base/db.ts'
import { callbackOf, signedCallback, textsOf, webhookPath } from '../callbacks.ts'
import { type Child, memoryOf } from '../child.ts'
import { type CpuTime, type Process, startMeter } from '../cpu-time.ts'
import { median } from '../figures.ts'
import { customerPhone, fillingOf, type SeededConnection, seedConnection } from '../inbox-seed.ts'
import { openExchange } from '../load.ts'
import { makeWorkspace } from '../workspace.ts'

export interface AgentsCourse {
  db: Db
  postgres: Process
  start: () => Promise<Child>
  rounds: number
  durationMs: number
  isShort: boolean
}

/** Maximum number of waits per key. */
const waitsPerKey = 10
/** Newest conversations of the connection: the first belongs to the measured agent. */
const conversations = 400

export interface AgentsFigures {
  waits: number
  /** Memory of the node in MB. */
  memory: { before: number; waiting: number }
  /** Share of a core while no messages arrive. */
  idle: { node: number; postgres: number } | null
  /** Milliseconds from the customer's message to the answer of the agent's wait. */
  alone: Latency
  beside: Latency
}

interface Latency {
  p50: number
  p95: number
  /** CPU time per message, in µs. */
  cpu: CpuTime | null
}

/** Measures the cost of agents that wait for work, and a message's latency to one, alone and beside the others. */
export async function runAgents(course: AgentsCourse): Promise<AgentsFigures> {
  const { db, postgres, rounds, durationMs, isShort } = course
  const waits = isShort ? 50 : 1000
  const workspace = await makeWorkspace(db)
  const connection = await seedConnection(await fillingOf(db, workspace), workspace, 1, conversations)
  const others = await makeAgents(db, workspace.workspaceId, waits / waitsPerKey)
  await assignConversations(db, workspace.workspaceId, connection, [workspace.keyId, ...others.map(({ id }) => id)])
  await db.sql`vacuum analyze`
  const node = await course.start()
  const agent = { port: node.port, key: workspace.key }
  // Warms up, so that one-time work is not measured.
  await latencies({ ...course, node, agent, connection, count: 20 })
  const alone: Latency[] = []
  const beside: Latency[] = []
  const count = isShort ? 5 : Math.max(50, Math.round(durationMs / 25))
  for (let round = 0; round < rounds; round++)
    alone.push(await latencies({ ...course, node, agent, connection, count }))
  const before = memoryOf(node)
  const waiting = await waitAll(
    node.port,
    others.map(({ value }) => value),
  )
  await sleep(isShort ? 100 : 2_000)
  const memory = { before, waiting: memoryOf(node) }
  const meter = startMeter(node, postgres)
  await sleep(durationMs)
  const idle = meter(durationMs * 1000)
  for (let round = 0; round < rounds; round++)
    beside.push(await latencies({ ...course, node, agent, connection, count }))
  await waiting.leave()
  const figures = { waits, memory, idle, alone: middle(alone), beside: middle(beside) }
  print(figures)
  return figures
}

async function makeAgents(db: Db, workspaceId: string, count: number): Promise<{ id: string; value: string }[]> {
  const scopes = ['inbox.read', 'inbox.write'] as const
  return db.tx(async (tx) => {
    const agents = []
    for (let n = 0; n < count; n++) {
      const input = { workspaceId, createdBy: null, name: `Agent ${n}`, scopes: [...scopes], quietSeconds: 0 }
      const { key, value } = await createApiKey(tx, input, systemClock.now())
      agents.push({ id: key.id, value })
    }
    return agents
  })
}

/** Assigns the first customer to the first agent, and the others to all agents in turn. */
async function assignConversations(
  db: Db,
  workspaceId: string,
  { conversations: ids }: SeededConnection,
  keyIds: string[],
) {
  const [first, ...rest] = keyIds
  const owners = ids.map((_, n) => (n === 0 ? first : rest[n % rest.length]) ?? null)
  await db.sql`
    update conversations c
    set owner_key_id = o.key_id, unanswered_since = null
    from unnest(${ids}::uuid[], ${owners}::uuid[]) as o (id, key_id)
    where c.workspace_id = ${workspaceId}
      and c.id = o.id`
}

interface Work {
  work: { conversation: { id: string } }[]
  next_cursor: string | null
}

async function requestWork(
  port: number,
  key: string,
  query: Record<string, string>,
  signal?: AbortSignal,
): Promise<Work> {
  const reply = await fetch(`http://127.0.0.1:${port}/api/v2/work?${new URLSearchParams(query)}`, {
    headers: { authorization: `Bearer ${key}` },
    ...(signal !== undefined && { signal }),
  })
  if (reply.status !== 200) throw new Error(`A wait was answered with ${reply.status}: ${await reply.text()}`)
  return (await reply.json()) as Work
}

/** Keeps every agent waiting, with a new request after each timeout, until they leave. */
async function waitAll(port: number, keys: readonly string[]): Promise<{ leave(): Promise<void> }> {
  const controller = new AbortController()
  const { signal } = controller
  const follow = async (key: string, from: string) => {
    for (let cursor = from; !signal.aborted; ) {
      const { next_cursor } = await requestWork(port, key, { wait: '25', cursor }, signal)
      cursor = next_cursor ?? cursor
    }
  }
  const ends: Promise<void>[] = []
  for (const key of keys) {
    const { next_cursor } = await requestWork(port, key, { wait: '0' })
    for (let n = 0; n < waitsPerKey; n++) ends.push(follow(key, next_cursor ?? ''))
  }
  const settled = Promise.allSettled(ends)
  return {
    leave: async () => {
      controller.abort()
      for (const end of await settled) {
        const isOurs = end.status === 'fulfilled' || end.reason?.name === 'AbortError'
        if (!isOurs) throw end.reason
      }
    },
  }
}

interface LatencyRun extends Pick<AgentsCourse, 'postgres'> {
  node: Child
  agent: { port: number; key: string }
  connection: SeededConnection
  count: number
}

let written = 0

/** Measures messages one after the other, each while the agent waits. */
async function latencies({ postgres, node, agent, connection, count }: LatencyRun): Promise<Latency> {
  const { port, key } = agent
  const exchange = openExchange(port)
  const times: number[] = []
  let { next_cursor: cursor } = await requestWork(port, key, { wait: '0' })
  const meter = startMeter(node, postgres)
  for (let n = 0; n < count; n++) {
    const answered = requestWork(port, key, { wait: '25', cursor: cursor ?? '' })
    // The wait must have started before the message arrives.
    await sleep(15)
    const message = { from: customerPhone(0), id: `wamid.AG${process.pid}.${++written}`, body: 'Is it still there?' }
    const bytes = signedCallback(webhookPath(connection), callbackOf(connection, textsOf([message])))
    const sentAt = performance.now()
    const [{ work, next_cursor }, status] = await Promise.all([
      answered.then((body) => {
        times.push(performance.now() - sentAt)
        return body
      }),
      exchange.send(bytes),
    ])
    if (status !== 200 || work.length !== 1) throw new Error(`status ${status} with ${work.length} conversations`)
    cursor = next_cursor
  }
  const cpu = meter(count)
  exchange.close()
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN
  return { p50: at(0.5), p95: at(0.95), cpu }
}

function middle(rounds: readonly Latency[]): Latency {
  const cpus = rounds.flatMap(({ cpu }) => cpu ?? [])
  const cpu =
    cpus.length === 0
      ? null
      : { node: median(cpus.map(({ node }) => node)), postgres: median(cpus.map(({ postgres }) => postgres)) }
  return { p50: median(rounds.map(({ p50 }) => p50)), p95: median(rounds.map(({ p95 }) => p95)), cpu }
}

function print({ waits, memory, idle, alone, beside }: AgentsFigures): void {
  const share = (part: number | undefined) => (part === undefined ? '–' : `${(part * 100).toFixed(2)} %`)
  const cell = ({ p50, p95, cpu }: Latency) =>
    `${p50.toFixed(1)}/${p95.toFixed(1)} ms | ${cpu === null ? '–' : `${Math.round(cpu.node)} + ${Math.round(cpu.postgres)}`}`
  console.log(`\n| waiting agents | | |\n|---|---|---|`)
  console.log(`| memory of the node, without and with ${waits} waits | ${memory.before} MB | ${memory.waiting} MB |`)
  console.log(
    `| CPU of a core while nothing arrives: Node, PostgreSQL | ${share(idle?.node)} | ${share(idle?.postgres)} |`,
  )
  console.log('\n| from a message to the answer of its wait | p50/p95 | Node + PostgreSQL, µs |\n|---|---|---|')
  console.log(`| one agent alone | ${cell(alone)} |`)
  console.log(`| beside ${waits} waits of ${waits / waitsPerKey} others | ${cell(beside)} |`)
}
