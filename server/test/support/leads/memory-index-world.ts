import { Worker } from 'node:worker_threads'
import { buildApp } from '../../../src/app/app.ts'
import type { App } from '../../../src/base/route.ts'
import {
  type MemoryIndexes,
  type MemoryIndexOptions,
  openMemoryIndexes,
} from '../../../src/leads/search/memory-index/client.ts'
import { testDatabase } from '../database.ts'
import { atEnd, oncePerFile } from '../file-lifecycle.ts'
import type { TestMember } from '../member.ts'
import { type Answer, callerOf, type World, world } from '../world.ts'

/** Node of the service that answers lists from an in-memory index. */
export interface IndexNode {
  app: App
  indexes: MemoryIndexes
  /** Thread with the indexes, for tests that end it. */
  thread(): Worker | undefined
  list(query: Record<string, string>): Promise<Answer>
  call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<Answer>
  /** Number of lists answered from the index, and from the database. */
  counts: { image: number; database: number }
}

/** Returns the same member on that node, whose lists come from memory if possible. */
export function memberAt({ app }: IndexNode, { workspaceId }: World, member: TestMember): TestMember {
  const call: TestMember['call'] = async (_, path) => {
    const url = `/api/team/v1/workspaces/${workspaceId}${path}`
    const reply = await app.inject({ url, headers: { cookie: member.cookie } })
    return { status: reply.statusCode, body: reply.json(), headers: reply.headers }
  }
  return { ...member, call }
}

/** Small segments, so that a few hundred leads go through the same stages as a million. */
const smallShape = { tailSlots: 8, segmentSlots: 256 }

export interface MemoryIndexWorld extends World {
  nodes: IndexNode[]
}

/**
 * Creates a workspace, and nodes with in-memory indexes beside the one without. The worlds of a file share these nodes,
 * since a thread takes longer to start than most tests; a world with options gets its own.
 */
export async function memoryIndexWorld(
  nodeCount = 1,
  options?: Partial<MemoryIndexOptions>,
): Promise<MemoryIndexWorld> {
  const w = await world()
  const nodes: IndexNode[] = []
  for (let n = 0; n < nodeCount; n++) {
    const started = options === undefined ? await sharedNode(w, n) : await startNode(w, options)
    nodes.push(nodeFor(w, started))
  }
  return { ...w, nodes }
}

interface StartedNode {
  app: App
  indexes: MemoryIndexes
  thread(): Worker | undefined
  /** By workspace. */
  counts: Map<string, IndexNode['counts']>
}

const startedNodes = oncePerFile((): Promise<StartedNode>[] => [])

function sharedNode(w: World, n: number): Promise<StartedNode> {
  const nodes = startedNodes()
  const node = nodes[n] ?? startNode(w, {})
  nodes[n] = node
  return node
}

async function startNode(w: World, options: Partial<MemoryIndexOptions>): Promise<StartedNode> {
  const { options: database } = await testDatabase()
  let thread: Worker | undefined
  const indexes = openMemoryIndexes({
    sql: w.db.sql,
    clock: w.clock,
    log: w.log,
    db: database,
    masterKeys: { current: Buffer.alloc(32, 7) },
    maxBytes: 100_000_000,
    minLeads: 0,
    shape: smallShape,
    startThread: (workerData) => {
      thread = new Worker(new URL('../../../src/leads/search/memory-index/search-worker.ts', import.meta.url), {
        workerData,
      })
      return thread
    },
    ...options,
  })
  const counts: StartedNode['counts'] = new Map()
  const count = <T>(workspaceId: string, answer: T | null) => {
    const of = counts.get(workspaceId)
    if (of !== undefined) of[answer === null ? 'database' : 'image']++
    return answer
  }
  const counted: MemoryIndexes = {
    ...indexes,
    find: async (workspaceId, query) => count(workspaceId, await indexes.find(workspaceId, query)),
  }
  const app = await buildApp({ ...w, memoryIndexes: counted })
  await app.ready()
  atEnd(async () => {
    await app.close()
    await indexes.close()
  })
  return { app, indexes, thread: () => thread, counts }
}

function nodeFor(w: World, { app, indexes, thread, counts: byWorkspace }: StartedNode): IndexNode {
  const counts = { image: 0, database: 0 }
  byWorkspace.set(w.workspaceId, counts)
  const callByKey = callerOf(app, w.key)
  const call: IndexNode['call'] = (method, path, body) => callByKey(method, path, { body })
  const list = (query: Record<string, string>) => callByKey('GET', '/api/v1/leads', { query })
  return { app, indexes, thread, list, call, counts }
}
