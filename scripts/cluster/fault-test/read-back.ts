import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { openDb } from '../../../server/src/base/db.ts'
import { requireState } from '../cluster-folder.ts'
import type { ReceivedWebhook, SendRequest } from '../external-services.ts'
import { databaseUrl } from '../up/databases.ts'
import { ledgerFolder } from '../up/services.ts'
import { mustCall } from './call.ts'
import { countOf, type FoundData } from './guarantees.ts'
import { balancer, type World } from './world.ts'

/** A webhook is retried some minutes after a failed attempt. */
const timeoutMs = 420_000

/** Reads all data of a world; waits for webhooks that are still pending. */
export async function readBack(world: World): Promise<FoundData> {
  const leads = await readLeads(world)
  const { inbound, outbound } = await readMessages(world)
  const endsAt = performance.now() + timeoutMs
  for (;;) {
    const events = await readEvents(world)
    const webhooks = readLines<ReceivedWebhook>('webhooks.jsonl')
    const received = new Set(webhooks.map(({ id }) => id))
    const isComplete = events.every(({ id }) => received.has(id))
    if (isComplete || performance.now() > endsAt) {
      return { leads, inbound, outbound, events, webhooks, sendRequests: readLines<SendRequest>('sends.jsonl') }
    }
    await wait(1_000)
  }
}

async function readLeads({ key }: World): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = `limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`
    const { data, pagination } = await mustCall(`${balancer}/api/v1/leads?${query}`, { token: key })
    for (const { id, lastName } of data) found.set(id, Number(/^step-(\d+)$/.exec(lastName)?.[1] ?? -1))
    cursor = pagination.nextCursor
  }
  return found
}

async function readMessages({ key, customers }: World): Promise<Pick<FoundData, 'inbound' | 'outbound'>> {
  const texts: Record<string, string[]> = { inbound: [], outbound: [] }
  for (const { conversationId } of customers) {
    const path = `${balancer}/api/v1/inbox/conversations/${conversationId}/messages?limit=100`
    for (let more = true, before = ''; more; ) {
      const page = await mustCall(`${path}${before}`, { token: key })
      // The simulator wrote the first message.
      for (const { direction, text } of page.messages) if (text !== 'Hello') texts[direction]?.push(text)
      more = page.has_more
      before = `&before=${oldestOf(page.messages)}`
    }
  }
  return { inbound: countOf(texts.inbound ?? []), outbound: countOf(texts.outbound ?? []) }
}

const oldestOf = (messages: readonly { occurred_at: string }[]): string =>
  messages.map(({ occurred_at: at }) => at).toSorted()[0] ?? ''

/** Reads the feed from the database, since not every event is visible to a key. */
async function readEvents({ workspaceId }: World): Promise<FoundData['events']> {
  const db = openDb({ url: databaseUrl, password: requireState().secrets.parley, maxConnections: 2 })
  try {
    const rows = await db.sql<{ id: string; subject: string }[]>`
      select id, subject_id as subject
      from events
      where workspace_id = ${workspaceId}
        and (name like 'lead.%' or name like 'inbox.%')
        and test_endpoint_id is null
      order by position nulls last, seq`
    return [...rows]
  } finally {
    await db.close()
  }
}

function readLines<T>(name: string): T[] {
  const lines = readFileSync(join(ledgerFolder(), name), 'utf8').split('\n')
  return lines.filter(Boolean).map((line) => JSON.parse(line))
}
