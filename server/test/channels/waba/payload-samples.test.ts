import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openAdapters } from '../../../src/channels/adapters.ts'
import { createConnection } from '../../../src/channels/connection/change.ts'
import { meaningOf, readError } from '../../../src/channels/waba/errors.ts'
import { resultOf } from '../../../src/channels/waba/sender.ts'
import { isSignedBy, readSignature } from '../../../src/channels/waba/take-callback.ts'
import { readTemplate } from '../../../src/channels/waba/templates.ts'
import { agreeing } from '../../support/channels/channel-world.ts'
import { parsed, signatureOf } from '../../support/channels/waba-payloads.ts'
import { openTestOutgoing } from '../../support/outgoing/outgoing.ts'
import { type World, world } from '../../support/world.ts'

// Samples from elsewhere, which are not ours to keep here: name their folder to run over them.
const folder = process.env.PAYLOAD_SAMPLES ?? ''
const skip = existsSync(folder) ? false : 'PAYLOAD_SAMPLES names no folder of samples'
const parts = ['cloud', 'coexistence', 'malformed', 'templates', 'edge']
const appSecret = 'app-secret-of-the-samples'

function filesOf(part: string): string[] {
  const path = join(folder, part)
  return existsSync(path) ? readdirSync(path).filter((name) => name.endsWith('.json')) : []
}

const load = (part: string, name: string) => JSON.parse(readFileSync(join(folder, part, name), 'utf8'))

interface Stored {
  inbound: number
  echoes: number
  history: number
  parked: number
  received: number
  state: string
}

const nothing: Stored = { inbound: 0, echoes: 0, history: 0, parked: 0, received: 0, state: 'active' }

/**
 * What each sample's name says must come of it, the events and the rows that they leave: the first pattern that fits counts.
 */
const outcomes: [pattern: RegExp, types: string, stored: Partial<Stored>][] = [
  [/group|deleted|status-unknown|value-errors|no-from|invalid-from|restriction|user-preferences/, '', {}],
  // Who it is from is a placeholder in it.
  [/^inbound-revoke/, '', {}],
  [/revoke/, 'withdrawn', {}],
  [/reaction-removed/, 'reaction_lifted', {}],
  [/declined|sync-remove|empty-entry|other-object|unknown-field|signatures/, '', {}],
  [/unknown-phone-number-id/, 'message', {}],
  // Whoever changed their number has never written here: the notice begins their conversation, but nobody wrote.
  [/changed-number/, 'customer_changed message', { inbound: 1 }],
  [/identity-changed/, 'message', { inbound: 1 }],
  [/^calls-/, 'contact_opened', {}],
  [/^smb-echo/, 'echo', { echoes: 1 }],
  [/^smb-app-state-sync-add/, 'contact_named', {}],
  [/^history-chunk/, 'history history history history', { history: 4 }],
  [/^account-update.*reconnected/, 'connection_state', {}],
  [/^account-update/, 'connection_state', { state: 'unavailable' }],
  [/^template-/, 'templates_changed', {}],
  [/^vercel-replay/, 'message', { inbound: 2, received: 2 }],
  [/status-/, 'status', { parked: 1 }],
  [/./, 'message', { inbound: 1, received: 1 }],
]

for (const part of skip ? [] : parts) {
  for (const name of filesOf(part).filter((each) => !each.startsWith('signature'))) {
    test(`sample ${part}/${name} is read, and stored once however often the webhook takes it`, async () => {
      const [, types, rows] = outcomes.find(([pattern]) => pattern.test(name)) ?? assert.fail()
      const sample = load(part, name)
      // One recording holds several callbacks under names of its own.
      const callbacks = sample.firstMessage ? [sample.firstMessage, sample.secondMessage] : [sample]
      for (const callback of callbacks) {
        const { items, skipped } = parsed(callback)
        assert.equal(items.map((item) => item.event.type).join(' '), types)
        assert.ok(!skipped.includes('item that could not be read'))
        for (const { event } of items) {
          if (event.type !== 'message') continue
          assert.ok(event.customer.phone !== null || event.customer.userId !== null)
          assert.equal(event.opensWindow, !name.startsWith('system-'))
          assert.equal(event.referral !== null, /referral/.test(name))
        }
      }

      const w = await world()
      const url = `/channels/waba/${await connect(w, name, callbacks[0])}/webhook`
      for (const callback of [...callbacks, ...callbacks]) {
        const body = Buffer.from(JSON.stringify(callback))
        const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signatureOf(appSecret, body) }
        const answer = await w.app.inject({ method: 'POST', url, headers, payload: body })
        assert.equal(answer.statusCode, 200, answer.body)
      }
      const stored = await storedBy(w)
      // A number is connected once: the next sample of it needs it.
      await w.db.sql`update connections set removed_at = ${w.clock.now()} where workspace_id = ${w.workspaceId}`
      assert.deepEqual(stored, { ...nothing, ...rows })
    })
  }
}

async function connect(w: World, name: string, callback: { entry?: unknown }): Promise<string> {
  const [entry] = [callback.entry].flat() as ({ id?: string } | undefined)[]
  const named = (field: string) => new RegExp(`"${field}":"(\\w+)"`).exec(JSON.stringify(callback))?.[1]
  const numberId = named('phone_number_id')
  const outgoing = openTestOutgoing()
  const adapters = openAdapters({ ...w, outgoing }, 'https://parley.example')
  const deps = { ...w, outgoing, adapters: { ...adapters, waba: { ...adapters.waba, ...agreeing } } }
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

async function storedBy({ db, workspaceId: id }: World): Promise<Stored> {
  const [stored] = await db.sql<Stored[]>`
    select
      (select count(*) from messages where workspace_id = ${id} and direction = 'inbound' and origin = 'live')::integer
        as inbound,
      (select count(*) from messages where workspace_id = ${id} and origin = 'echo')::integer as echoes,
      (select count(*) from messages where workspace_id = ${id} and origin = 'history')::integer as history,
      (select count(*) from parked_statuses where workspace_id = ${id})::integer as parked,
      (select count(*) from events where workspace_id = ${id} and name = 'inbox.message.received')::integer as received,
      (select max(state) from connections where workspace_id = ${id}) as state`
  return stored ?? assert.fail()
}

test('answers of the platform in the samples', { skip }, () => {
  for (const name of filesOf('api')) {
    const sample = load('api', name)
    const answered = (status: number, body: unknown) =>
      resultOf({ outcome: 'answered', status, body: JSON.stringify(body) })
    if (name.startsWith('error-')) {
      const error = readError(sample.body)
      assert.ok(error && name.includes(String(error.code)), name)
      const { outcome } = answered(sample.http_status, sample.body)
      assert.equal(outcome, meaningOf(error, sample.http_status).outcome)
    } else if (name.startsWith('send-')) {
      const result = answered(200, sample)
      assert.ok(result.outcome === 'accepted', name)
      if (name.includes('brazil')) assert.ok(result.platformUserPhone)
    } else {
      assert.ok(!sample.data.map(readTemplate).includes(null), name)
    }
  }
})

test('signatures of the samples', { skip }, () => {
  for (const [path, vector] of Object.entries<Record<string, string>>(load('edge', 'signatures.json'))) {
    const bytes = readFileSync(join(folder, path))
    const signature = readSignature(vector.x_hub_signature_256)
    assert.ok(signature && isSignedBy(vector.app_secret ?? '', bytes, signature), path)
    const rewritten = Buffer.from(JSON.stringify(JSON.parse(bytes.toString()), null, 1))
    assert.ok(!isSignedBy(vector.app_secret ?? '', rewritten, signature))
  }
})
