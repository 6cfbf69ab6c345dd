import { callbackOf, signedCallback, textsOf, webhookPath } from '../../callbacks.ts'
import type { Child, Start } from '../../child.ts'
import { type CpuTime, type Process, startMeter } from '../../cpu-time.ts'
import { type Database, environmentOf } from '../../database-address.ts'
import { cpuCell, median, medianCpu } from '../../figures.ts'
import { customerPhone, type SeededConnection } from '../../inbox-seed.ts'
import { measure } from '../../load.ts'
import { chatText } from './chat-words.ts'

export interface BesideCourse {
  database: Database
  postgres: Process
  start: Start
  rounds: number
  durationMs: number
}

const customers = 400
const width = 16
let written = 0

/** Prints the cost of callbacks while a worker indexes their messages, and without one. */
export async function besideCallbacks(
  { database, postgres, start, rounds, durationMs }: BesideCourse,
  node: Child,
  connection: SeededConnection,
): Promise<void> {
  const request = (n: number) => {
    const id = `wamid.search.${++written}`
    const from = customerPhone((n * 31) % customers)
    return signedCallback(
      webhookPath(connection),
      callbackOf(connection, textsOf([{ from, id, body: chatText(written, 1) }])),
    )
  }
  const load = { host: '127.0.0.1', port: node.port, connections: width, request }
  await measure({ ...load, durationMs: durationMs / 4 })
  const sides: Record<'alone' | 'beside', { perSecond: number[]; cpu: (CpuTime | null)[] }> = {
    alone: { perSecond: [], cpu: [] },
    beside: { perSecond: [], cpu: [] },
  }
  const workers: (CpuTime | null)[] = []
  for (let round = 0; round < 2 * rounds; round++) {
    const side = round % 2 === 0 ? 'alone' : 'beside'
    const worker = side === 'beside' ? await start('inbox-indexer.ts', environmentOf(database)) : null
    const meter = startMeter(node, postgres)
    const ofWorker = worker === null ? null : startMeter(worker, postgres)
    const { perSecond, answers, failures } = await measure({ ...load, durationMs: durationMs * 2 })
    if (failures > 0) throw new Error('Callbacks were answered with statuses other than 2xx')
    sides[side].perSecond.push(perSecond)
    sides[side].cpu.push(meter(answers))
    if (ofWorker !== null) workers.push(ofWorker(answers))
    await worker?.stop()
  }
  for (const [side, { perSecond, cpu }] of Object.entries(sides)) {
    console.log(
      `Callbacks with a message, ${side}: ${Math.round(median(perSecond))}/s, ${cpuCell(medianCpu(cpu))} µs each.`,
    )
  }
  console.log(`The worker used ${Math.round(medianCpu(workers)?.node ?? 0)} µs of Node for each.`)
}
