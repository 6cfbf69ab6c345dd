import { hash } from 'node:crypto'
import type { Db } from '../../server/src/base/db.ts'
import { memoryOf, type Start } from '../child.ts'
import { type Process, startMeter } from '../cpu-time.ts'
import { median } from '../figures.ts'
import { measure, requestBytes } from '../load.ts'

/** Measures the cost of finding a request's cell before any other work (decision 040). */
export interface DirectoryStage {
  db: Db
  postgres: Process
  start: Start
  rounds: number
  durationMs: number
}

const sizes = [100_000, 1_000_000]
const looksEach = 1_000_000
const cellCount = 16

/** Returns cells by the digests of keys. */
export function makeDirectory(entries: number): { keys: string[]; cells: Map<string, number> } {
  const keys = Array.from({ length: entries }, (_, n) => hash('sha256', `key ${n}`))
  return { keys, cells: new Map(keys.map((key, n) => [key, n % cellCount])) }
}

export async function runDirectory({ db, postgres, start, rounds, durationMs }: DirectoryStage): Promise<void> {
  console.log('\n| lookup | entries | each | CPU time, both sides |\n|---|---:|---:|---:|')
  for (const entries of sizes) {
    const { keys, cells } = makeDirectory(entries)
    const at = (n: number) => keys[(n * 7919) % entries] ?? ''
    const hit = (n: number) => cells.get(at(n))
    const strange = Array.from({ length: 1_000 }, (_, n) => hash('sha256', `no key ${n}`))
    const unknown = new Set(strange)
    const miss = (n: number) => !cells.has(strange[n % 1_000] ?? '') && unknown.has(strange[n % 1_000] ?? '')
    for (const [name, look] of Object.entries({ 'a map in the process': hit, 'one that is known to be none': miss })) {
      const each = median(Array.from({ length: rounds }, () => nanosecondsOf(look)))
      console.log(`| ${name} | ${entries} | ${(each / 1000).toFixed(2)} µs | the same |`)
    }
    const child = await start('directory.ts', { ENTRIES: String(entries) })
    console.log(`| (a process with the map uses ${memoryOf(child)} MB) | ${entries} | | |`)
    const request = (n: number) => requestBytes('GET', `/${at(n)}`, {})
    for (const connections of [1, 16]) {
      const runs = []
      for (let round = 0; round < rounds; round++) {
        const [meter, own] = [startMeter(child, postgres), process.cpuUsage()]
        const run = await measure({ host: '127.0.0.1', port: child.port, connections, durationMs, request })
        const { user, system } = process.cpuUsage(own)
        runs.push({ p50: run.p50Ms, cpu: (meter(run.answers)?.node ?? 0) + (user + system) / run.answers })
      }
      const [p50, cpu] = [median(runs.map((run) => run.p50)), median(runs.map((run) => run.cpu))]
      const name = `a process by loopback, ${connections} at once`
      console.log(`| ${name} | ${entries} | ${p50.toFixed(2)} ms | ${Math.round(cpu)} µs |`)
    }
  }
  await inDatabase(db, postgres, rounds, durationMs)
}

/** Processor time, since other processes may use the machine. */
function nanosecondsOf(look: (n: number) => unknown): number {
  const began = process.cpuUsage()
  for (let n = 0; n < looksEach; n++) look(n)
  const { user, system } = process.cpuUsage(began)
  return ((user + system) * 1000) / looksEach
}

async function inDatabase(db: Db, postgres: Process, rounds: number, durationMs: number): Promise<void> {
  await db.sql`create table bench_directory (digest bytea primary key, cell smallint not null)`
  await db.sql`
    insert into bench_directory (digest, cell)
    select sha256(('key ' || n)::bytea), n % ${cellCount}::integer
    from generate_series(0, ${sizes[0] ?? 0}::integer - 1) n`
  const runs = []
  for (let round = 0; round < rounds; round++) {
    const [meter, times] = [startMeter({ pid: process.pid }, postgres), [] as number[]]
    for (const end = performance.now() + durationMs; performance.now() < end; ) {
      const began = performance.now()
      const digest = hash('sha256', `key ${times.length}`, 'buffer')
      await db.sql`select cell from bench_directory where digest = ${digest}`
      times.push(performance.now() - began)
    }
    const cpu = meter(times.length)
    runs.push({ p50: median(times), cpu: (cpu?.node ?? 0) + (cpu?.postgres ?? 0) })
  }
  await db.sql`drop table bench_directory`
  const [p50, cpu] = [median(runs.map((run) => run.p50)), median(runs.map((run) => run.cpu))]
  console.log(`| a statement, one at a time | ${sizes[0]} | ${p50.toFixed(2)} ms | ${Math.round(cpu)} µs |`)
}
