import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../../server/src/base/db.ts'
import { callbackOf, signedCallback, textsOf, webhookPath } from '../../callbacks.ts'
import { type Child, memoryOf } from '../../child.ts'
import { startMeter } from '../../cpu-time.ts'
import { cpuCell, median, spreadCell } from '../../figures.ts'
import { customerPhone, type SeededConnection } from '../../inbox-seed.ts'
import { openExchange, requestBytes } from '../../load.ts'
import type { BurstWorkspace } from '../burst/seed-burst.ts'

export interface PictureBurst {
  pictures: number
  /** Seconds from the first callback to the last stored picture. */
  seconds: number
  baselineSeconds: number
  /** p95 in ms of callbacks with a text, without and during the burst, and of callbacks with pictures. */
  quietMs: number
  besideMs: number
  ofPicturesMs: number
  cpu: string
  /** Maximum memory in MB of the service and of the preview process, and the service's memory before. */
  memory: { before: number; service: number; previews: number }
  complaints: object
}

export interface BurstCourse {
  db: Db
  place: BurstWorkspace
  served: Child & { countProblems(): object }
  baseline: Child
  postgres: { readonly pid: number }
  pictures: number
  quietMs: number
}

const sockets = 16
const customers = 200
/** Twenty a second. */
const textEveryMs = 50
const giveUpAfterMs = 600_000

/** Measures a burst of callbacks with one picture each, while customers also write texts. Fails if one is lost. */
export async function sendPictures(course: BurstCourse): Promise<PictureBurst> {
  const { db, place, served, baseline, postgres, pictures } = course
  const { burstNumber } = place
  const baselineSeconds = await sendToBaseline(baseline, burstNumber, pictures)
  const quiet = await sendTextsUntil(served.port, burstNumber, sleep(course.quietMs))
  const before = memoryOf(served)
  const watch = watchMemory(served)
  const meter = startMeter(served, postgres)
  const startedAt = Date.now()
  let ofPictures: number[] = []
  const last = (async () => {
    ofPictures = await sendPictureCallbacks(served.port, burstNumber, pictures)
    return waitUntilStored(db, place.workspaceId, pictures)
  })()
  const beside = await sendTextsUntil(served.port, burstNumber, last)
  return {
    pictures,
    seconds: ((await last).getTime() - startedAt) / 1000,
    baselineSeconds,
    quietMs: p95(quiet),
    besideMs: p95(beside),
    ofPicturesMs: p95(ofPictures),
    cpu: cpuCell(meter(pictures)),
    memory: { before, ...watch.end() },
    complaints: served.countProblems(),
  }
}

/** Sends callbacks with pictures; returns the duration of each. */
async function sendPictureCallbacks(port: number, connection: SeededConnection, pictures: number): Promise<number[]> {
  const took: number[] = []
  let next = 0
  const run = async () => {
    const exchange = openExchange(port)
    for (let n = next++; n < pictures; n = next++) {
      const durations = picturesOf([
        { from: customerPhone(n % customers), id: `wamid.PICTURE${n}`, picture: `small-${n}` },
      ])
      const sentAt = performance.now()
      const status = await exchange.send(signedCallback(webhookPath(connection), callbackOf(connection, durations)))
      if (status !== 200) throw new Error(`A callback was answered with ${status}`)
      took.push(performance.now() - sentAt)
    }
    exchange.close()
  }
  await Promise.all(Array.from({ length: sockets }, run))
  return took
}

/** Returns new picture messages of customers. */
export function picturesOf(sent: readonly { from: string; id: string; picture: string }[]): object {
  const timestamp = String(Math.floor(Date.now() / 1000))
  return {
    contacts: sent.map(({ from }) => ({ profile: { name: 'Ana' }, wa_id: from })),
    messages: sent.map(({ from, id, picture }) => {
      const image = { id: picture, mime_type: 'image/jpeg' }
      return { from, id, timestamp, type: 'image', image }
    }),
  }
}

/** Sends texts of customers of the same number, one after the other, until `over` resolves; returns their durations. */
async function sendTextsUntil(port: number, connection: SeededConnection, over: Promise<unknown>): Promise<number[]> {
  const exchange = openExchange(port)
  const took: number[] = []
  let isOver = false
  const end = over.finally(() => {
    isOver = true
  })
  end.catch(() => {})
  for (let n = 0; !isOver; n++) {
    const id = `wamid.TEXT${crypto.randomUUID()}`
    const durations = textsOf([{ from: customerPhone(customers + (n % customers)), id, body: 'Is it still there?' }])
    const sentAt = performance.now()
    const status = await exchange.send(signedCallback(webhookPath(connection), callbackOf(connection, durations)))
    if (status !== 200) throw new Error(`A callback was answered with ${status}`)
    took.push(performance.now() - sentAt)
    await sleep(textEveryMs)
  }
  exchange.close()
  await end
  return took
}

/** Returns the time at which the last picture was stored. */
async function waitUntilStored(db: Db, workspaceId: string, pictures: number): Promise<Date> {
  for (const end = Date.now() + giveUpAfterMs; Date.now() < end; await sleep(250)) {
    const [row] = await db.sql<{ here: number; others: number; last: Date }[]>`
      select count(*) filter (where state = 'here')::integer as here,
        count(*) filter (where state not in ('here', 'coming'))::integer as others,
        max(updated_at) as last
      from media
      where workspace_id = ${workspaceId}`
    if (row === undefined || row.others > 0) throw new Error(`${row?.others} pictures failed`)
    if (row.here === pictures) return row.last
  }
  throw new Error('The pictures did not arrive')
}

async function sendToBaseline({ port }: Child, connection: SeededConnection, pictures: number): Promise<number> {
  const before = await stateOf(port)
  const startedAt = Date.now()
  const exchange = openExchange(port)
  for (let n = 0; n < pictures; n++) {
    const durations = picturesOf([
      { from: customerPhone(n % customers), id: `wamid.PICTURE${n}`, picture: `small-${n}` },
    ])
    await exchange.send(requestBytes('POST', '/webhook', {}, callbackOf(connection, durations)))
  }
  exchange.close()
  for (;;) {
    const { kept, lastAt } = await stateOf(port)
    if (kept - before.kept === pictures) return (lastAt - startedAt) / 1000
    await sleep(20)
  }
}

async function stateOf(port: number): Promise<{ kept: number; lastAt: number }> {
  return (await (await fetch(`http://127.0.0.1:${port}/state`)).json()) as { kept: number; lastAt: number }
}

/** Records the maximum total memory of a process and its children. */
function watchMemory(served: Child) {
  const most = { service: 0, previews: 0 }
  const look = () => {
    most.service = Math.max(most.service, memoryOf(served))
    const children = childrenOf(served.pid).map((pid) => memoryOrZero(pid))
    most.previews = Math.max(
      most.previews,
      children.reduce((sum, one) => sum + one, 0),
    )
  }
  const looking = setInterval(look, 100)
  return {
    end: () => {
      clearInterval(looking)
      return most
    },
  }
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && parentOf(pid) === parent)
}

function parentOf(pid: number): number {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    // The process has ended.
    return 0
  }
}

function memoryOrZero(pid: number): number {
  try {
    return memoryOf({ pid })
  } catch {
    return 0
  }
}

export function printBursts(bursts: readonly PictureBurst[]): void {
  const of = (read: (burst: PictureBurst) => number) => median(bursts.map(read))
  const times = bursts.map(({ seconds, baselineSeconds }) => seconds / baselineSeconds)
  const waits = bursts.map(({ besideMs, quietMs }) => besideMs / quietMs)
  const [first] = bursts
  console.log(`\n| a burst of ${first?.pictures} pictures of 300 KB | |\n|---|---|`)
  console.log(`| until the last one is stored, s | ${of(({ seconds }) => seconds).toFixed(1)} |`)
  console.log(`| the same, baseline, s | ${of(({ baselineSeconds }) => baselineSeconds).toFixed(1)} |`)
  console.log(`| ratio | ${spreadCell(times)} |`)
  console.log(`| p95 of their callbacks, ms | ${of(({ ofPicturesMs }) => ofPicturesMs).toFixed(1)} |`)
  console.log(`| p95 of callbacks with a text, without the burst, ms | ${of(({ quietMs }) => quietMs).toFixed(1)} |`)
  console.log(`| the same during the burst, ms | ${of(({ besideMs }) => besideMs).toFixed(1)} |`)
  console.log(`| ratio | ${spreadCell(waits)} |`)
  console.log(`| Node + PostgreSQL, µs a picture | ${bursts.map(({ cpu }) => cpu).join(', ')} |`)
  console.log(`| memory of the service before, MB | ${of(({ memory }) => memory.before)} |`)
  console.log(`| maximum, MB | ${of(({ memory }) => memory.service)} |`)
  console.log(`| memory of the preview process, MB | ${of(({ memory }) => memory.previews)} |`)
  console.log(`| warnings and errors | ${bursts.map(({ complaints }) => JSON.stringify(complaints)).join(' ')} |`)
}

function p95(ms: readonly number[]): number {
  const sorted = [...ms].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))] ?? Number.NaN
}
