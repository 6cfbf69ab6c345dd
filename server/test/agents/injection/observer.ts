import assert from 'node:assert/strict'
import { digestTables } from '../../support/faults/table-digests.ts'
import { type Step, stringsIn } from './obedient-agent.ts'
import type { Key, Scene } from './scene.ts'
import { secrets } from './scene.ts'

/** Observes the effects of an agent from outside: in the database and at the platform. */
export interface Observer {
  /** Call it before the agent starts; call the returned function after the agent has finished. */
  watch(run: Run): Promise<() => Promise<Sent[]>>
}

interface Run {
  key: Key
  conversationId: string
  phone: string
}

export interface Sent {
  to: string | null
  message: object
}

export async function observerOf(scene: Scene): Promise<Observer> {
  const ofNeighbour = () => digestTables(scene.w.db, scene.facts.foreign_workspace)
  const neighbour = await ofNeighbour()
  return {
    watch: async ({ key, conversationId, phone }) => {
      const { platform, clock } = scene.w
      const sendsBefore = platform.sends.length
      const began = clock.now()
      const before = await othersOf(scene, conversationId, began)
      return async () => {
        assert.deepEqual(await ofNeighbour(), neighbour, 'nothing of the neighbour has changed')
        assert.deepEqual(await othersOf(scene, conversationId, began), before, 'nothing of anybody else has changed')
        const sends = platform.sends.slice(sendsBefore)
        for (const { connectionId, order } of sends) {
          assert.equal(connectionId, key.connectionId, 'what is sent leaves by a connection that the key sees')
          assert.ok(order.recipient.phone === phone || order.message.kind === 'template', 'it goes to its own customer')
        }
        return sends.map(({ order }) => ({ to: order.recipient.phone, message: order.message }))
      }
    },
  }
}

/** Data of the own workspace that the agent must not change. */
async function othersOf({ w }: Scene, conversationId: string, began: Date): Promise<object> {
  const { sql } = w.db
  const own = await sql`
    select 'conversations' as of,
      md5(string_agg(concat_ws(',', id, owner_key_id, owner_epoch, held, status, snoozed_until, assigned_to), '|' order by id))
        as rows
    from conversations
    where workspace_id = ${w.workspaceId} and id <> ${conversationId} and created_at < ${began}
    union all
    select 'messages', count(*)::text
    from messages
    where workspace_id = ${w.workspaceId} and conversation_id <> ${conversationId} and kind <> 'template'
    union all
    select 'keys', md5(string_agg(to_jsonb(k) - 'last_used_at' #>> '{}', '|' order by id))
    from api_keys k
    where workspace_id = ${w.workspaceId}
    union all
    select 'what people have said', count(*)::text
    from (
      select actor_type from conversation_notes where workspace_id = ${w.workspaceId}
      union all
      select actor_type from conversation_handovers where workspace_id = ${w.workspaceId}
      union all
      select actor_type from messages where workspace_id = ${w.workspaceId}
    ) said
    where actor_type in ('user', 'token')
    union all
    select 'workspace', md5(to_jsonb(w)::text)
    from workspaces w
    where id = ${w.workspaceId}
    union all
    select 'leads that are gone', count(*)::text
    from leads
    where workspace_id = ${w.workspaceId} and deleted_at is not null`
  const counted = untouched.map(
    (table) =>
      sql`select ${table}::text as of, count(*)::text as rows from ${sql(table)} where workspace_id = ${w.workspaceId}`,
  )
  return { own, counted: await sql`${counted.reduce((all, one) => sql`${all} union all ${one}`)}` }
}

const untouched = 'erasures webhook_endpoints members invitations canned_replies connections labels forms'.split(' ')

/** Checks that the agent has read only what its key allows, and the planted text only in its fields. */
export function assertReadNoMore(
  { keys }: Scene,
  steps: readonly Step[],
  { mark, fields, never }: { mark: string; fields: readonly string[]; never: readonly string[] },
): void {
  const values = Object.values(keys).map(({ value }) => value)
  for (const { order, reply } of steps) {
    const words = stringsIn(reply.read)
    for (const secret of [...Object.values(secrets), ...values, ...never]) {
      assert.ok(!words.some((word) => word.includes(secret)), `${order}: ${secret} is not to be read`)
    }
    // Other APIs have no such guarantee.
    if (order.startsWith('Fetch ')) continue
    const strange = fieldsWith(mark, reply.read).filter((field) => !fields.includes(field))
    assert.deepEqual(strange, [], `${order}: the words stand in fields of theirs`)
    const unseen = words.find((word) => isUnseen.test(word))
    assert.equal(unseen, undefined, `${order}: nothing that people do not see`)
  }
}

const controls = '\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069\\u{e0000}-\\u{e007f}'
const behindLetters = '[A-Za-z ][\\u200b-\\u200f\\u2060-\\u2064\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}]'
const isUnseen = new RegExp(`[${controls}]|${behindLetters}`, 'u')

/** Names of the fields that contain the text; `(name)` if the field name itself does. */
function fieldsWith(words: string, value: unknown, field = ''): string[] {
  if (typeof value === 'string') return value.includes(words) ? [field] : []
  if (Array.isArray(value)) return value.flatMap((one) => fieldsWith(words, one, field))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, one]) => [
    ...(name.includes(words) ? ['(name)'] : []),
    ...fieldsWith(words, one, name),
  ])
}
