// Worker thread with the memory indexes: reading, decrypting and searching a million leads here does not block other
// requests. Started by client.ts.
import { parentPort, workerData } from 'node:worker_threads'
import { detectDistribution } from '../../../base/citus/distributed-sql.ts'
import { systemClock } from '../../../base/clock.ts'
import { openDb } from '../../../base/db.ts'
import { openKeyStore } from '../../../base/encryption/key-store.ts'
import { describeError } from '../../../base/log.ts'
import type { Question, Reply, SearchWorkerSettings } from './client.ts'
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
  onBuilt: (workspaceId, ms) => tell({ kind: 'built', workspaceId, ms }),
  onTrouble: (workspaceId, error) => {
    const { code, class: name } = describeError(error)
    tell({ kind: 'trouble', workspaceId, code: code ?? name })
  },
})

function tell(reply: Reply): void {
  parentPort?.postMessage(reply)
}

async function answer(question: Question): Promise<void> {
  switch (question.kind) {
    case 'find': {
      const { number, workspaceId, holds, wanted, nowMs } = question
      return tell({ kind: 'answer', number, ...(await cache.find(workspaceId, holds, wanted, nowMs)) })
    }
    case 'warm': {
      const { number, workspaceId, holds, nowMs } = question
      return tell({ kind: 'answer', number, answer: null, exists: await cache.warm(workspaceId, nowMs, holds) })
    }
    case 'tidy':
      cache.tidy(question.nowMs)
      if (cache.isEmpty()) tell({ kind: 'empty' })
      return
    case 'use-master-key':
      return keyStore.useMasterKey(Buffer.from(question.masterKey))
    case 'stop':
      parentPort?.close()
      return db.close()
    default:
      return question satisfies never
  }
}

parentPort?.on('message', (question: Question) => void answer(question))
