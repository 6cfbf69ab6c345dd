import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import type { Db } from '../../../src/base/db.ts'
import { relayMessages } from '../../../src/base/pubsub.ts'
import { openNode, testDatabase } from '../database.ts'
import { type Json, type Node, startNode } from '../events/feed-world.ts'
import { atEnd } from '../file-lifecycle.ts'
import type { AgentsWorld } from './agents-world.ts'

export interface WaitReply {
  status: number
  body: Json
}

interface WaitInput {
  key?: string
  cursor?: string
  wait?: number
}

export interface WaitingNode extends Node {
  /** Pool with a single connection: holding it while waiting would block everything. */
  db: Db
  /** Number of queries for the work of a key. */
  queries: { work: number }
  /** Sends a wait request; resolves when the node waits. `leave` resolves when the node has noticed the disconnect. */
  wait(input?: WaitInput): Promise<{ answer: Promise<WaitReply>; leave(): Promise<void> }>
  /** Sends a wait request without assertions. */
  sendWait(input: WaitInput, signal?: AbortSignal): Promise<WaitReply>
  /** Resolves when the node has queried for work this many times. */
  hasQueried(times: number): Promise<void>
  /** Resolves when the node has at most this many open requests. */
  hasAtMostOpen(requests: number): Promise<void>
}

/** Starts another node of the service. It exchanges notifications of commits with this one unless `isDeaf`. */
export async function waitingNode(w: AgentsWorld, { isDeaf = false } = {}): Promise<WaitingNode> {
  const { options } = await testDatabase()
  const queries = { work: 0 }
  const changes = new EventEmitter().setMaxListeners(0)
  const when = async (isSo: () => boolean) => {
    while (!isSo()) await once(changes, 'change')
  }
  const db = openNode({
    ...options,
    maxConnections: 1,
    onStatement: ({ text }) => {
      if (!/picked as materialized/.test(text)) return
      queries.work++
      changes.emit('change')
    },
  })
  atEnd(() => db.close())
  const fail = (error: unknown) => {
    throw error
  }
  const stops = isDeaf ? [] : [await relayMessages(db, fail), await relayMessages(w.db, fail)]
  atEnd(async () => {
    for (const stop of stops) stop()
  })
  const node = await startNode(w, { db })
  let open = 0
  node.app.server.on('request', (_request, response) => {
    open++
    response.once('close', () => {
      open--
      changes.emit('change')
    })
  })
  const sendWait: WaitingNode['sendWait'] = async ({ key = w.agent.value, wait = 25, cursor }, signal) => {
    const search = new URLSearchParams({ wait: String(wait), ...(cursor !== undefined && { cursor }) })
    const reply = await fetch(`${node.url}/api/v2/work?${search}`, {
      headers: { authorization: `Bearer ${key}` },
      ...(signal !== undefined && { signal }),
    })
    return { status: reply.status, body: await reply.json() }
  }
  const hasQueried: WaitingNode['hasQueried'] = async (times) => {
    await when(() => queries.work >= times)
    // Runs after the query on the only connection, so that the connection is free again.
    await db.sql`select 1`
  }
  const hasAtMostOpen: WaitingNode['hasAtMostOpen'] = (requests) => when(() => open <= requests)
  return {
    ...node,
    db,
    queries,
    sendWait,
    hasQueried,
    hasAtMostOpen,
    wait: async (input = {}) => {
      const cursor = input.cursor ?? (await w.callTool('wait_for_work', { wait: 0 }, input.key)).body.next_cursor
      const [before, others] = [queries.work, open]
      const controller = new AbortController()
      const answer = sendWait({ ...input, cursor }, controller.signal)
      const refused = answer.then(
        ({ status, body }) => assert.ok(status === 200, JSON.stringify(body)),
        () => {},
      )
      await Promise.race([hasQueried(before + 1), refused])
      return {
        answer,
        leave: async () => {
          controller.abort()
          await hasAtMostOpen(others)
        },
      }
    },
  }
}
