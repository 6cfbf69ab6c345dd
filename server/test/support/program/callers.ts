import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../until.ts'
import { ask } from './service.ts'

interface Written {
  id: string
  code: string
  /** Time of the acknowledgment. */
  at: number
}

/** Clients that write and read leads, each sending one request after another. */
export type Callers = ReturnType<typeof startCallers>

interface CallersOptions {
  /** A function if it differs between requests. */
  url: string | (() => string)
  key: string
  /** Paths, each of which one client reads repeatedly. */
  reads?: string[]
  maxMs?: number
}

const writers = ['ada', 'ben', 'eva', 'leo']
const tryAgainMs = 50
const maxWaitMs = 60_000
let groups = 0

/** Starts clients that write and read leads, each sending one request after another. */
export function startCallers({ url, key, reads = [], maxMs = maxWaitMs }: CallersOptions) {
  const written: Written[] = []
  const counts: Record<number, number> = {}
  /** Answers that no client should get: anything but a success or a 503 with `Retry-After`, and answers after `maxMs`. */
  const faults: string[] = []
  let slowestMs = 0
  let isOver = false
  const group = ++groups
  const call = async (what: string, body?: object) => {
    const startedAt = performance.now()
    const reply = await ask(typeof url === 'string' ? url : url(), key, what, body)
    const ms = performance.now() - startedAt
    slowestMs = Math.max(slowestMs, ms)
    counts[reply.status] = (counts[reply.status] ?? 0) + 1
    const isDone = reply.status < 300
    const isFine = isDone || (reply.status === 503 && reply.headers.has('retry-after'))
    if (!isFine || ms > maxMs) faults.push(`${what}: ${reply.status} after ${Math.round(ms)} ms: ${reply.text}`)
    if (!isDone) await wait(tryAgainMs)
    return isDone ? reply.body : null
  }
  const write = async (name: string) => {
    for (let n = 0; !isOver; n++) {
      const lead = { firstName: 'Ana', externalRef: `${name}-${group}-${n}`, notes: 'x'.repeat(800) }
      const { data } = (await call('POST /api/v1/leads', lead)) ?? {}
      if (data !== undefined) written.push({ id: data.id, code: data.uniqueCode, at: Date.now() })
    }
  }
  const read = async (path: string) => {
    while (!isOver) await call(`GET ${path}`)
  }
  const running = Promise.all([...writers.map(write), ...reads.map(read)]).catch((error) => faults.push(String(error)))
  return {
    written,
    counts,
    faults,
    slowestMs: () => slowestMs,
    /** Resolves after `count` more acknowledged writes. Rejects as soon as there is a fault. */
    more: async (count: number) => {
      const enough = written.length + count
      await until(() => written.length >= enough || faults.length > 0, `${count} writes`, maxWaitMs)
      assert.deepEqual(faults, [])
    },
    /** Resolves after `count` more answers with status 503. */
    refused: (count: number) => {
      const enough = (counts[503] ?? 0) + count
      return until(() => (counts[503] ?? 0) >= enough, `${count} answers with status 503`)
    },
    stop: async () => {
      isOver = true
      await running
    },
  }
}
