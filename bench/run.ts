// `npm run bench`: the product against the least that the same work can cost, on the same rows, in one interleaved
// run. Options: --leads 20000 --rounds 5 --seconds 2 --connections 64 --json results.json
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { openDb } from '../server/src/base/db.ts'
import { startEmbeddedPostgres } from '../server/src/base/embedded-postgres.ts'
import { migrate } from '../server/src/base/migrate.ts'
import { makeFloorTables } from './floor-tables.ts'
import { type Measured, measure, requestBytes } from './load.ts'
import { person } from './people.ts'
import { fillWorkspace, makeWorkspace } from './workspace.ts'

const { values } = parseArgs({
  options: {
    leads: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '64' },
    json: { type: 'string' },
  },
})
const [leadCount, rounds, connections] = [Number(values.leads), Number(values.rounds), Number(values.connections)]
const durationMs = Number(values.seconds) * 1000

interface Contest {
  name: string
  product: (n: number) => Buffer
  floor: (n: number) => Buffer
}

const folder = await mkdtemp(join(tmpdir(), 'parley-bench-'))
const postgres = await startEmbeddedPostgres({ folder, log: () => {} })
const db = openDb(postgres)
const children: { stop: () => Promise<void> }[] = []
try {
  await migrate(db)
  const { workspaceId, key } = await makeWorkspace(db)
  const startedMs = performance.now()
  await fillWorkspace(db, workspaceId, leadCount, (done) => {
    if (process.stderr.isTTY) process.stderr.write(`\rfilling ${done} of ${leadCount} leads`)
  })
  const filledPerSecond = Math.round(leadCount / ((performance.now() - startedMs) / 1000))
  process.stderr.write(`\rfilled ${leadCount} leads through the bulk path, ${filledPerSecond} a second\n`)
  await makeFloorTables(db, workspaceId)

  const product = await startChild('product.ts')
  const floor = await startChild('floor.ts')
  children.push(product, floor)
  const ids = await db.sql<{ id: string }[]>`
    select id from leads where workspace_id = ${workspaceId} order by id limit 5000`
  const results = []
  for (const contest of contests(
    key,
    ids.map((row) => row.id),
  )) {
    results.push(await compete(contest, product.port, floor.port))
  }
  print(results)
  if (values.json)
    await writeFile(values.json, `${JSON.stringify({ leadCount, rounds, filledPerSecond, results }, null, 2)}\n`)
} finally {
  for (const child of children) await child.stop()
  await db.close()
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
}

function contests(key: string, ids: string[]): Contest[] {
  const headers = { authorization: `Bearer ${key}` }
  const idOf = (n: number) => ids[n % ids.length]
  const fresh = (n: number) => {
    const { firstName, lastName, email, phone, status } = person(leadCount + n)
    return { firstName, lastName, email, phone, status }
  }
  const statusOf = (n: number) => (n % 2 === 0 ? 'contacted' : 'qualified')
  const refOf = (n: number) => `crm-${(n * 7919) % leadCount}`
  const upsert = (n: number) => ({ match: { by: 'externalRef', value: refOf(n) }, lead: { status: statusOf(n) } })
  return [
    {
      name: 'GET lead by id',
      product: (n) => requestBytes('GET', `/api/v1/leads/${idOf(n)}`, headers),
      floor: (n) => requestBytes('GET', `/leads/${idOf(n)}`, {}),
    },
    {
      name: 'list of 50, one status, exact total',
      product: () => requestBytes('GET', '/api/v1/leads?status=won&limit=50', headers),
      floor: () => requestBytes('GET', '/leads?status=won', {}),
    },
    {
      name: 'create',
      product: (n) => requestBytes('POST', '/api/v1/leads', headers, fresh(n)),
      floor: (n) => requestBytes('POST', '/leads', {}, fresh(n)),
    },
    {
      name: 'upsert of an existing lead',
      product: (n) => requestBytes('POST', '/api/v1/leads/upsert', headers, upsert(n)),
      floor: (n) => requestBytes('POST', '/leads/upsert', {}, { externalRef: refOf(n), status: statusOf(n) }),
    },
  ]
}

interface Result {
  name: string
  product: Measured
  floor: Measured
  ratio: number
  ratios: number[]
}

// One after the other within each round, so that a change of the machine's mood meets both.
async function compete(contest: Contest, productPort: number, floorPort: number): Promise<Result> {
  const measured: { product: Measured; floor: Measured }[] = []
  const run = (port: number, request: Contest['product'], ms: number) =>
    measure({ host: '127.0.0.1', port, connections, durationMs: ms, request })
  await run(productPort, contest.product, 500)
  await run(floorPort, contest.floor, 500)
  for (let round = 0; round < rounds; round++) {
    const product = await run(productPort, contest.product, durationMs)
    const floor = await run(floorPort, contest.floor, durationMs)
    if (product.failures + floor.failures > 0) throw new Error(`${contest.name}: answers other than 2xx`)
    measured.push({ product, floor })
  }
  const ratios = measured.map(({ product, floor }) => product.perSecond / floor.perSecond)
  return {
    name: contest.name,
    product: medianOf(measured.map((round) => round.product)),
    floor: medianOf(measured.map((round) => round.floor)),
    ratio: median(ratios),
    ratios,
  }
}

function medianOf(runs: Measured[]): Measured {
  return {
    perSecond: median(runs.map((run) => run.perSecond)),
    p50Ms: median(runs.map((run) => run.p50Ms)),
    p99Ms: median(runs.map((run) => run.p99Ms)),
    failures: 0,
  }
}

function median(numbers: number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

function print(results: Result[]): void {
  const line = (m: Measured) => `${Math.round(m.perSecond)}/s ${m.p50Ms.toFixed(1)}/${m.p99Ms.toFixed(1)} ms`
  console.log(
    `\n| work (${connections} connections, ${leadCount} leads) | Parley, p50/p99 | floor, p50/p99 | ratio (spread) |`,
  )
  console.log('|---|---|---|---|')
  for (const { name, product, floor, ratio, ratios } of results) {
    const spread = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`
    console.log(`| ${name} | ${line(product)} | ${line(floor)} | ${ratio.toFixed(2)} (${spread}) |`)
  }
}

async function startChild(file: string): Promise<{ port: number; stop: () => Promise<void> }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL(file, import.meta.url))], {
    env: { ...process.env, PG_SOCKET: postgres.socketFolder, PG_DATABASE: postgres.database },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const port = await new Promise<number>((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
      const ready = /ready (\d+)/.exec(text)
      if (ready !== null) resolve(Number(ready[1]))
    })
    void exited.then(() => reject(new Error(`${file} ended before it was ready`)))
  })
  return {
    port,
    stop: () => {
      child.kill('SIGKILL')
      return exited
    },
  }
}
