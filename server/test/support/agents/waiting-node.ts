import type { Db, SentStatement } from '../../../src/base/db.ts'
import { relayNews } from '../../../src/base/news/relay.ts'
import { openNode, testDatabase } from '../database.ts'
import { type Json, type Node, startNode } from '../events/feed-world.ts'
import { atEnd } from '../file-end.ts'
import type { AgentsWorld } from './agents-world.ts'

export interface Waiting {
  status: number
  body: Json
}

export interface WaitingNode extends Node {
  /** The one connection of the node's pool: whoever held it while waiting would stop everything. */
  db: Db
  /** How often the node has asked the database: for the work of a key, and for whose anything is. */
  asked: { work: number; owners: number }
  /** The statements that asked whose anything is. */
  owners: SentStatement[]
  /** Asks the node, and resolves once it has found nothing and waits. */
  wait(input?: { key?: string; cursor?: string; wait?: number }): Promise<{ answer: Promise<Waiting>; leave(): void }>
  /** Asks the node, whatever comes of it. */
  ask(input: { key?: string; cursor?: string; wait?: number }): Promise<Waiting>
}

/** Another node of the service, which hears of this one's commits and is heard, unless it is deaf. */
export async function waitingNode(w: AgentsWorld, { isDeaf = false } = {}): Promise<WaitingNode> {
  const { options } = await testDatabase()
  const asked = { work: 0, owners: 0 }
  const owners: SentStatement[] = []
  let onRead = () => {}
  const db = openNode({
    ...options,
    maxConnections: 1,
    onStatement: (statement) => {
      const { text } = statement
      if (/picked as materialized/.test(text)) {
        asked.work++
        onRead()
      } else if (/as owner, s\.reach/.test(text)) {
        asked.owners++
        owners.push(statement)
      }
    },
  })
  atEnd(() => db.close())
  const fail = (error: unknown) => {
    throw error
  }
  const stops = isDeaf ? [] : [await relayNews(db, fail), await relayNews(w.db, fail)]
  atEnd(async () => {
    for (const stop of stops) stop()
  })
  const node = await startNode(w, { db })
  const ask = async (
    { key = w.agent.value, wait = 25, cursor }: Parameters<WaitingNode['ask']>[0],
    signal?: AbortSignal,
  ): Promise<Waiting> => {
    const search = new URLSearchParams({ wait: String(wait), ...(cursor !== undefined && { cursor }) })
    const reply = await fetch(`${node.url}/api/v2/work?${search}`, {
      headers: { authorization: `Bearer ${key}` },
      ...(signal !== undefined && { signal }),
    })
    return { status: reply.status, body: await reply.json() }
  }
  return {
    ...node,
    db,
    asked,
    owners,
    ask,
    wait: async (input = {}) => {
      const cursor = input.cursor ?? (await w.ask('wait_for_work', { wait: 0 }, input.key)).body.next_cursor
      const reading = new Promise<void>((resolve) => {
        onRead = resolve
      })
      const controller = new AbortController()
      const answer = ask({ ...input, cursor }, controller.signal)
      answer.catch(() => {})
      await reading
      // Behind the read on the only connection, which is free again.
      await db.sql`select 1`
      return { answer, leave: () => controller.abort() }
    },
  }
}
