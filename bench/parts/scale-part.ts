import type { Db } from '../../server/src/base/db.ts'
import { fillBlindMessages, fillMessages } from '../../server/test/support/fill.ts'
import { line } from '../contest-table.ts'
import { customerPhone, fillingOf, seedConnection } from '../inbox-seed.ts'
import { measure, requestBytes } from '../load.ts'
import { type BenchWorkspace, makeWorkspace } from '../workspace.ts'

const few = 300
const messagesEach = 20
const opened = 100

/** Prints how the lists of a workspace with many conversations do beside those of a small one. */
export async function runScale(db: Db, productPort: number, durationMs: number, many: number): Promise<void> {
  const rows = new Map<string, string[]>()
  const places = []
  for (const conversations of [few, many]) {
    places.push({ conversations, ...(await seed(db, conversations, messagesEach)) })
  }
  await db.sql`vacuum analyze`
  for (const { key, ids } of places) {
    for (const [name, pathOf] of lists(ids)) {
      const request = (n: number) => requestBytes('GET', pathOf(n), { authorization: `Bearer ${key}` })
      const run = await measure({ host: '127.0.0.1', port: productPort, connections: 8, durationMs, request })
      if (run.failures > 0) throw new Error(`${name}: answers other than 2xx`)
      rows.set(name, [...(rows.get(name) ?? []), line(run)])
    }
  }
  const head = places.map((one) => `${one.conversations} conversations, ${one.conversations * messagesEach} messages`)
  console.log(`\n| list (8 connections) | ${head.join(' | ')} |\n|---|---|---|`)
  for (const [name, figures] of rows) console.log(`| ${name} | ${figures.join(' | ')} |`)
}

async function seed(db: Db, conversations: number, each: number): Promise<BenchWorkspace & { ids: string[] }> {
  const workspace = await makeWorkspace(db)
  const filling = await fillingOf(db, workspace)
  const connection = await seedConnection(filling, workspace, 1, conversations)
  const ids = connection.conversations.slice(0, opened)
  await fillMessages(filling, connection.id, ids, each + 40)
  await fillBlindMessages(filling, connection.conversations.slice(opened), each)
  return { ...workspace, ids }
}

function lists(ids: readonly string[]): [name: string, pathOf: (n: number) => string][] {
  const path = '/api/v1/inbox/conversations'
  return [
    ['30 conversations', () => path],
    ['30 that are closed', () => `${path}?status=closed`],
    ['30 of people', () => `${path}?owner=human`],
    ['by phone', (n) => `${path}?phone=${customerPhone(n % 300)}`],
    ['50 messages', (n) => `${path}/${ids[n % ids.length]}/messages`],
  ]
}
