import { Worker } from 'node:worker_threads'
import type { Clock } from '../../../base/clock.ts'
import type { Log } from '../../../base/log.ts'
import type { ArrangedAnswer, ArrangedQuery } from './arranged-query.ts'
import type { Question, Reply, SearchWorkerSettings, Timely } from './messages.ts'
import type { IndexAnswer, IndexQuery } from './query.ts'
import type { Held } from './segment.ts'

type Request =
  | { kind: 'find'; workspaceId: string; holds: Timely; query: IndexQuery }
  | { kind: 'arrange'; workspaceId: string; query: ArrangedQuery }
  | { kind: 'warm'; workspaceId: string; holds: Held }

interface Answered {
  answer: IndexAnswer | ArrangedAnswer | null
  exists: boolean
}

/** The way to the worker and back. */
export interface SearchWorkerClient {
  /** A worker that is dead, or dies, replies with nothing. */
  ask(request: Request): Promise<Answered>
  tidy(): void
  /** Secrets are wrapped by this key from now on. */
  useMasterKey(masterKey: Buffer): void
  close(): Promise<void>
}

interface Surroundings {
  clock: Clock
  log: Log
  startThread?: ((settings: SearchWorkerSettings) => Worker) | undefined
}

const nothing: Answered = { answer: null, exists: false }
/** How long a worker that has died is left alone. */
const mourningMs = 30_000

/**
 * Starts the worker when the first index is wanted, since an installation without large workspaces needs none, and ends
 * it once it holds nothing: only so does the memory of its indexes go back to the system.
 */
export function openSearchWorker(
  settings: SearchWorkerSettings,
  { clock, log, startThread = startWorker }: Surroundings,
): SearchWorkerClient {
  const waiting = new Map<number, (answered: Answered) => void>()
  /** Those that have not ended yet, with their ends. */
  const alive = new Map<Worker, Promise<void>>()
  let worker: Worker | null = null
  let diedAtMs = Number.NEGATIVE_INFINITY
  let closed = false
  let last = 0

  const hear = (reply: Reply) => {
    const { workspaceId } = { workspaceId: '', ...reply }
    if (reply.kind === 'built') log.info('a memory index of leads is built', { workspaceId, ms: reply.ms })
    if (reply.kind === 'trouble') log.warn('a memory index of leads is given up', { workspaceId, code: reply.code })
    if (reply.kind === 'empty' && waiting.size === 0) retire()
    if (reply.kind !== 'answer') return
    waiting.get(reply.number)?.(reply)
    waiting.delete(reply.number)
  }
  const start = (): Worker => {
    const started = startThread(settings)
    // A program that has nothing else to do may end.
    started.unref()
    started.on('message', hear)
    started.on('error', (error) => log.warn('the worker of the memory indexes failed', {}, error))
    const ended = new Promise<void>((resolve) => started.once('exit', () => resolve()))
    alive.set(started, ended)
    ended.then(() => {
      alive.delete(started)
      if (worker !== started) return
      worker = null
      diedAtMs = clock.now().getTime()
      for (const settle of waiting.values()) settle(nothing)
      waiting.clear()
    })
    return started
  }
  const retire = () => {
    tell({ kind: 'stop' })
    worker = null
  }
  const tell = (question: Question) => worker?.postMessage(question)

  return {
    ask: (request) => {
      const nowMs = clock.now().getTime()
      if (closed || (worker === null && nowMs - diedAtMs < mourningMs)) return Promise.resolve(nothing)
      // A worker that would only begin has no index to find anything in.
      if (worker === null && request.kind !== 'warm') return Promise.resolve(nothing)
      worker ??= start()
      return new Promise((resolve) => {
        const number = ++last
        waiting.set(number, resolve)
        tell({ ...request, number, nowMs })
      })
    },
    tidy: () => tell({ kind: 'tidy', nowMs: clock.now().getTime() }),
    useMasterKey: (masterKey) => {
      const { current, previous = [] } = settings.masterKeys
      settings.masterKeys = { current: masterKey, previous: [current, ...previous] }
      tell({ kind: 'use-master-key', masterKey })
    },
    close: async () => {
      closed = true
      for (const one of alive.keys()) one.ref()
      tell({ kind: 'stop' })
      await Promise.all(alive.values())
    },
  }
}

function startWorker(workerData: SearchWorkerSettings): Worker {
  // The indexes themselves are outside of the heap that this bounds.
  const resourceLimits = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 128 }
  return new Worker(new URL('./search-worker.ts', import.meta.url), {
    workerData,
    resourceLimits,
    name: 'memory indexes',
  })
}
