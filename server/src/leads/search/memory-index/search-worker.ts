// Worker thread with the memory indexes: reading, decrypting and searching a million leads here does not block other
// requests. Started by client.ts.
import { parentPort, workerData } from 'node:worker_threads'
import { detectDistribution } from '../../../base/citus/distributed-sql.ts'
import { systemClock } from '../../../base/clock.ts'
import { openDb } from '../../../base/db.ts'
import { openKeyStore } from '../../../base/encryption/key-store.ts'
import { describeError } from '../../../base/log.ts'
import type { SearchWorkerSettings, WorkerMessage, WorkerReply } from './client.ts'
import { openIndexCache } from './index-cache.ts'

const settings = workerData as SearchWorkerSettings
// One connection to catch up for requests, one for an index being built.
const db = openDb({ ...settings.db, maxConnections: 2, applicationName: 'parley-memory-index' })
// Worker data arrives as Uint8Array; keys are compared as Buffer.
const { current, previous = [] } = settings.masterKeys
const masterKeys = { current: Buffer.from(current), previous: previous.map((key) => Buffer.from(key)) }
await detectDistribution(db)
const keyStore = openKeyStore(db, masterKeys, systemClock)
const cache = openIndexCache({
  db,
  keyStore,
  limits: settings.limits,
  onBuilt: (workspaceId, ms) => post({ kind: 'built', workspaceId, ms }),
  onError: (workspaceId, error) => {
    const { code, class: name } = describeError(error)
    post({ kind: 'trouble', workspaceId, code: code ?? name })
  },
})

function post(reply: WorkerReply): void {
  parentPort?.postMessage(reply)
}

async function handle(message: WorkerMessage): Promise<void> {
  switch (message.kind) {
    case 'find': {
      const { number, workspaceId, contents, query, nowMs } = message
      return post({ kind: 'answer', number, ...(await cache.find(workspaceId, contents, query, nowMs)) })
    }
    case 'warm': {
      const { number, workspaceId, contents, nowMs } = message
      return post({ kind: 'answer', number, answer: null, exists: await cache.warm(workspaceId, nowMs, contents) })
    }
    case 'tidy':
      cache.tidy(message.nowMs)
      if (cache.isEmpty()) post({ kind: 'empty' })
      return
    case 'use-master-key':
      return keyStore.useMasterKey(Buffer.from(message.masterKey))
    case 'stop':
      parentPort?.close()
      return db.close()
    default:
      return message satisfies never
  }
}

parentPort?.on('message', (message: WorkerMessage) => void handle(message))
