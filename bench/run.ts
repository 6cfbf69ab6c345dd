// `npm run bench`: compares the product with a baseline, the lowest possible cost of the same work, on the same rows in
// one interleaved run.
// Options:
// --parts
// leads,inbox,import,scale,idle,neighbours,webhooks,backlog,search,lists,orders,memory,tokens,growth,burst,media,agents,
// message-search,directory,index-alone,sizes,row-sizes
// --leads 20000 --rounds 5 --seconds 2 --connections 64 --rows 100000 (import)
// --conversations 100000 --messages 50 (per conversation; scale, growth; sizes uses a hundredth, row-sizes a fifth)
// --burst 20000 (messages) --searched 1000000 (message-search)
// --only 'status won' (part of a name; for leads, inbox, search, growth and media)
// --json results.json
// --peers: instead of the parts, compares with Directus, which npm downloads into a temporary folder: 700 MB, and minutes.
// --short: every part except inbox and burst in a minute. Its figures are meaningless, but it fails when an answer is
// wrong.
// --postgres /usr/lib/postgresql/15/bin: uses this PostgreSQL instead of the embedded one. search, lists, orders,
// memory and growth need one with pg_trgm.
// --against ../parley-0.1: another checkout of the project with its node_modules, whose product takes part in each
// round of leads, inbox, lists and webhooks, and in burst if its web app is built. It uses the same database, so its
// tables must be the same.
// --crowded: the workspace of inbox has 50 teams, 100 automation rules and 10,000 scheduled messages.
// --traced 1: Parley sends this share of its traces, and its metrics, to a collector; the same Parley without tracing
// takes part like another checkout.
// --keep /var/tmp/million: keeps the database in this folder, so that later runs of search, orders, memory, tokens and
// growth find the leads in it. growth changes them: use a copy for it.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { openDb } from '../server/src/base/db.ts'
import { startEmbeddedPostgres } from '../server/src/base/embedded/embedded-postgres.ts'
import { migrate } from '../server/src/base/migrate.ts'
import { type Child, startChild } from './child.ts'
import { type Course, compare, type Result } from './comparison.ts'
import { crowd } from './crowd.ts'
import { environmentOf } from './database-address.ts'
import { runAgentCalls } from './parts/agent-calls.ts'
import { type AgentsFigures, runAgents } from './parts/agents-part.ts'
import { runBurst } from './parts/burst/burst-part.ts'
import { runDirectory } from './parts/directory-part.ts'
import { runGrowth } from './parts/growth/growth-part.ts'
import { runIndexAlone } from './parts/growth/index-alone.ts'
import type { GrowthResult } from './parts/growth/rounds.ts'
import { runIdle } from './parts/idle-part.ts'
import { type Imported, runImport } from './parts/import-part.ts'
import { runConversationSizes } from './parts/inbox/conversation-sizes.ts'
import { inboxContests } from './parts/inbox/inbox-part.ts'
import { runRowSizes } from './parts/inbox/row-sizes.ts'
import { leadContests } from './parts/leads-part.ts'
import { runLists } from './parts/lists-part.ts'
import { type MediaFigures, runMedia } from './parts/media/media-part.ts'
import { runMemory } from './parts/memory-part.ts'
import { type MessageSearchFigures, runMessageSearch } from './parts/message-search/message-search-part.ts'
import { runNeighbours } from './parts/neighbours-part.ts'
import { runOrders } from './parts/orders-part.ts'
import { runPeers } from './parts/peers/peers-part.ts'
import { runScale } from './parts/scale-part.ts'
import { runSearch } from './parts/search-part.ts'
import { runTokens } from './parts/tokens-part.ts'
import type { Throughput } from './parts/webhook-throughput.ts'
import { runBacklog, runWebhooks } from './parts/webhooks-part.ts'
import { printResults } from './results-table.ts'
import { maxConnections, startSystemPostgres } from './system-postgres.ts'
import { makeWorkspace } from './workspace.ts'

const { values: given } = parseArgs({
  options: {
    parts: { type: 'string', default: 'leads,inbox' },
    leads: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '64' },
    backlog: { type: 'string', default: '100000' },
    json: { type: 'string' },
    postgres: { type: 'string' },
    rows: { type: 'string', default: '100000' },
    conversations: { type: 'string', default: '100000' },
    messages: { type: 'string', default: '50' },
    keep: { type: 'string' },
    against: { type: 'string' },
    traced: { type: 'string' },
    burst: { type: 'string', default: '20000' },
    searched: { type: 'string', default: '1000000' },
    only: { type: 'string', default: '' },
    crowded: { type: 'boolean', default: false },
    peers: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
  },
})
const short = {
  parts: `idle,leads,import,scale,neighbours,webhooks,backlog,tokens,media,agents,message-search${given.postgres === undefined ? '' : ',search,growth'}`,
  ...{ leads: '2000', rounds: '1', seconds: '0.1', connections: '16', backlog: '500', rows: '500' },
  ...{ conversations: '200', messages: '10', searched: '2000' },
}
const values = { ...given, ...(given.short && short), ...(given.peers && { parts: 'peers' }) }
const parts = values.parts.split(',')
const [leadCount, rounds, connections] = [Number(values.leads), Number(values.rounds), Number(values.connections)]
const durationMs = Number(values.seconds) * 1000

const folder = values.keep ?? (await mkdtemp(join(tmpdir(), 'parley-bench-')))
const postgres = values.postgres
  ? await startSystemPostgres(values.postgres, values.keep, parts.includes('idle'))
  : await startEmbeddedPostgres({ folder, log: () => {}, settings: { max_connections: maxConnections } })
const { socketFolder, database, user, password } = postgres
const options = { socketFolder, database, user, password }
const place = environmentOf(options)
const db = openDb(postgres)
const children: Child[] = []
try {
  await migrate(db)
  // Measured before the other processes start, since they poll the database.
  if (parts.includes('idle')) {
    const [workspaces, withWebhooks] = values.short ? [100, 10] : [10_000, 1000]
    await runIdle({ db, postgres, workspaces, withWebhooks, durationMs: durationMs * 30 })
  }
  const workspace = await makeWorkspace(db)
  const platform = await start('platform.ts', {})
  const product = await start('product.ts', { ...place, ...(await tracing()) })
  const other = await startOther('product.ts', place)
  const baseline = await start('baselines/baseline.ts', { ...place, PLATFORM_PORT: String(platform.port) })
  const course: Course = { product, other, baseline, postgres, rounds, connections, durationMs }
  const stage = { db, options, start, startOther, course }

  const results: Result[] = []
  const others: {
    import?: Imported
    webhooks?: Throughput[]
    media?: MediaFigures
    agents?: AgentsFigures
    messageSearch?: MessageSearchFigures
    growth?: GrowthResult[]
  } = {}
  const run = async (contests: Parameters<typeof compare>[0][], what: string) => {
    const ofPart: Result[] = []
    for (const contest of contests.filter(({ name }) => name.includes(values.only)))
      ofPart.push(await compare(contest, course))
    printResults(`work (${connections} connections, ${what})`, ofPart)
    results.push(...ofPart)
  }
  if (parts.includes('leads')) {
    const singles = await start('singles.ts', { ...place, WORKSPACE: workspace.workspaceId })
    await run(await leadContests(db, workspace, leadCount, singles), `${leadCount} leads`)
  }
  if (parts.includes('inbox')) {
    const startSlow = async (delayMs: number) => {
      const slow = await start('platform.ts', { DELAY_MS: String(delayMs) })
      return {
        platform: slow,
        baseline: await start('baselines/baseline.ts', { ...place, PLATFORM_PORT: String(slow.port) }),
      }
    }
    const contests = await inboxContests(db, workspace, platform.port, startSlow)
    if (values.crowded) await crowd(db, workspace)
    await run(contests, values.crowded ? 'inbox of a large team' : 'inbox')
  }
  if (parts.includes('search')) await runSearch(stage, leadCount, values.only)
  if (parts.includes('lists')) results.push(...(await runLists(stage, leadCount)))
  if (parts.includes('orders')) await runOrders(stage, leadCount, values.only)
  if (parts.includes('memory')) await runMemory(stage, leadCount)
  if (parts.includes('tokens')) await runTokens(db, rounds, durationMs)
  if (parts.includes('growth')) {
    const size = { leads: leadCount, conversations: Number(values.conversations), each: Number(values.messages) }
    others.growth = await runGrowth(stage, size, values.only)
  }
  if (parts.includes('peers'))
    results.push(...(await runPeers({ ...stage, folder: join(folder, 'peers') }, workspace, leadCount)))
  if (parts.includes('import')) others.import = await runImport(Number(values.rows))
  if (parts.includes('scale')) {
    const [conversations, messages] = [Number(values.conversations), Number(values.messages)]
    await runScale({
      db,
      postgres,
      start: () => start('product.ts', place),
      rounds,
      durationMs,
      conversations,
      messages,
    })
  }
  if (parts.includes('sizes')) await runConversationSizes(Math.ceil(Number(values.conversations) / 100))
  if (parts.includes('row-sizes')) await runRowSizes(Math.ceil(Number(values.conversations) / 5))
  if (parts.includes('burst')) {
    const messages = Number(values.burst)
    const size = { messages, customers: messages / 10, quietMs: 8_000 }
    await runBurst({ db, database: options, platform, postgres, rounds, against: given.against, ...size })
  }
  if (parts.includes('media'))
    others.media = await runMedia({
      db,
      database: options,
      postgres,
      start,
      rounds,
      isShort: values.short,
      only: values.only,
    })
  if (parts.includes('agents')) {
    results.push(...(await runAgentCalls(db, workspace, course)))
    const startNode = () => start('product.ts', place)
    others.agents = await runAgents({ db, postgres, start: startNode, rounds, durationMs, isShort: values.short })
  }
  if (parts.includes('message-search')) {
    const startNode = () => start('product.ts', place)
    const size = { rounds, durationMs, messages: Number(values.searched) }
    others.messageSearch = await runMessageSearch({ db, database: options, postgres, start, startNode, ...size })
  }
  if (parts.includes('index-alone')) runIndexAlone(leadCount)
  if (parts.includes('directory')) await runDirectory({ db, postgres, start, rounds, durationMs })
  if (parts.includes('neighbours')) await runNeighbours(db, product.port, rounds, durationMs)
  if (parts.includes('webhooks') || parts.includes('backlog')) {
    const receiver = await start('webhook-receiver.ts', {})
    const webhookCourse = {
      db,
      rounds,
      share: values.short ? 0.02 : 1,
      receiver,
      baseline: await start('baselines/webhook-baseline.ts', place),
      worker: await start('webhook-worker.ts', place),
      other: await startOther('webhook-worker.ts', place),
      postgres,
    }
    if (parts.includes('webhooks')) others.webhooks = await runWebhooks(webhookCourse)
    if (parts.includes('backlog')) await runBacklog(webhookCourse, product.port, Number(values.backlog))
  }
  if (values.json)
    await writeFile(values.json, `${JSON.stringify({ leadCount, rounds, results, ...others }, null, 2)}\n`)
} finally {
  for (const child of children) await child.stop()
  await db.close()
  await postgres.stop()
  if (values.keep === undefined) await rm(folder, { recursive: true, force: true })
}

async function start(file: string, env: Record<string, string>, folder?: string): Promise<Child> {
  const child = await startChild(file, env, folder)
  children.push(child)
  return child
}

async function startOther(file: string, env: Record<string, string>): Promise<Child | undefined> {
  const against = given.against ?? (given.traced === undefined ? undefined : join(import.meta.dirname, '..'))
  return against === undefined ? undefined : start(file, env, join(resolve(against), 'bench'))
}

/** Returns the settings of a traced product; empty without `--traced`. */
async function tracing(): Promise<Record<string, string>> {
  if (given.traced === undefined) return {}
  const { port } = await start('collector.ts', {})
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: given.traced,
  }
}
