import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openAdapters } from '../../../src/channels/adapters.ts'
import { createConnection } from '../../../src/channels/connection/change.ts'
import { agreeing } from '../../support/channels/channel-world.ts'
import { signatureOf } from '../../support/channels/waba-payloads.ts'
import { openTestOutgoing } from '../../support/outgoing/outgoing.ts'
import { type World, world } from '../../support/world.ts'

// Samples from elsewhere, which are not ours to keep here: name their folder to run over them.
const folder = process.env.PAYLOAD_SAMPLES ?? ''
const parts = ['cloud', 'coexistence', 'malformed', 'templates', 'edge']
const appSecret = 'app-secret-of-the-samples'

/** Rows that a sample leaves, told by its name: the first pattern that fits counts. */
const outcomes: [pattern: RegExp, stored: Partial<Stored>][] = [
  [/group|deleted|status-unknown|value-errors|no-from|invalid-from|restriction|user-preferences/, {}],
  [/revoke|reaction-removed|declined|sync-remove|empty-entry|other-object|unknown-field|signatures/, {}],
  [/unknown-phone-number-id|^template-|^calls-|sync-add|reconnected/, {}],
  // Whoever changed their number has never written here: the notice begins their conversation, but nobody wrote.
  [/changed-number|identity-changed/, { inbound: 1 }],
  [/^smb-echo/, { echoes: 1 }],
  [/^history-chunk/, { history: 4 }],
  [/^account-update/, { state: 'unavailable' }],
  [/^vercel-replay/, { inbound: 2, received: 2 }],
  [/status-/, { parked: 1 }],
  [/./, { inbound: 1, received: 1 }],
]

interface Stored {
  inbound: number
  echoes: number
  history: number
  parked: number
  received: number
  state: string
}

const nothing: Stored = { inbound: 0, echoes: 0, history: 0, parked: 0, received: 0, state: 'active' }

for (const part of existsSync(folder) ? parts : []) {
  const path = join(folder, part)
  const names = existsSync(path) ? readdirSync(path).filter((name) => name.endsWith('.json')) : []
  for (const name of names.filter((each) => !each.startsWith('signature'))) {
    test(`sample ${part}/${name} is taken by the webhook, twice, and stored once`, async () => {
      const w = await world()
      const sample = JSON.parse(readFileSync(join(path, name), 'utf8'))
      const callbacks = sample.firstMessage ? [sample.firstMessage, sample.secondMessage] : [sample]
      const connectionId = await connect(w, name, callbacks[0])
      for (const callback of [...callbacks, ...callbacks]) {
        const body = Buffer.from(JSON.stringify(callback))
        const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signatureOf(appSecret, body) }
        const url = `/channels/waba/${connectionId}/webhook`
        const answer = await w.app.inject({ method: 'POST', url, headers, payload: body })
        assert.equal(answer.statusCode, 200, answer.body)
      }
      const stored = await storedBy(w)
      // A number is connected once: the next sample of it needs it.
      await w.db.sql`update connections set removed_at = ${w.clock.now()} where workspace_id = ${w.workspaceId}`
      const expected = outcomes.find(([pattern]) => pattern.test(name))?.[1]
      assert.deepEqual(stored, { ...nothing, ...expected })
    })
  }
}

async function connect(w: World, name: string, callback: { entry?: unknown }): Promise<string> {
  const [entry] = [callback.entry].flat() as ({ id?: string } | undefined)[]
  const named = (field: string) => new RegExp(`"${field}":"(\\w+)"`).exec(JSON.stringify(callback))?.[1]
  const numberId = named('phone_number_id')
  const outgoing = openTestOutgoing()
  const adapters = openAdapters({ ...w, outgoing }, 'https://parley.example')
  const deps = {
    ...w,
    outgoing,
    adapters: { ...adapters, waba: { ...adapters.waba, ...agreeing } },
  }
  const by = { workspaceId: w.workspaceId, userId: null, actor: { type: 'system', id: null } } as const
  const connection = await createConnection(deps, by, {
    channel: 'waba',
    name: 'Samples',
    numberId: numberId === undefined || name.startsWith('unknown-phone') ? '700100200' : numberId,
    // An account event may be about another account than the one it is sent for.
    accountId: named('waba_id') ?? entry?.id ?? '900800700',
    accessToken: 'an-access-token-of-24-chars',
    appSecret,
  })
  return connection.id
}

async function storedBy({ db, workspaceId }: World): Promise<Stored> {
  const [ofMessages] = await db.sql<Pick<Stored, 'inbound' | 'echoes' | 'history'>[]>`
    select
      (count(*) filter (where direction = 'inbound' and origin = 'live'))::integer as inbound,
      (count(*) filter (where origin = 'echo'))::integer as echoes,
      (count(*) filter (where origin = 'history'))::integer as history
    from messages
    where workspace_id = ${workspaceId}`
  const [ofStatuses] = await db.sql<Pick<Stored, 'parked'>[]>`
    select count(*)::integer as parked
    from parked_statuses
    where workspace_id = ${workspaceId}`
  const [ofEvents] = await db.sql<Pick<Stored, 'received'>[]>`
    select count(*)::integer as received
    from events
    where workspace_id = ${workspaceId}
      and name = 'inbox.message.received'`
  const [ofConnections] = await db.sql<Pick<Stored, 'state'>[]>`
    select max(state) as state
    from connections
    where workspace_id = ${workspaceId}`
  return { ...nothing, ...ofMessages, ...ofStatuses, ...ofEvents, ...ofConnections }
}
