import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../src/base/clock.ts'
import { createDeliveryWorker } from '../../../src/webhooks/deliver/worker.ts'
import { signedInMember } from '../../support/member.ts'
import { type N8nWorld, n8nWorld } from '../../support/n8n/n8n-world.ts'
import { type NodeInput, WebhookAnswer } from '../../support/n8n/node-context.ts'
import type { Item } from '../../support/n8n/node-type.ts'
import { type ReceivedWebhook, type Receiver, startReceiver } from '../../support/webhooks/webhook-receiver.ts'
import { presentAsRecorded } from '../../support/webhooks/webhook-world.ts'
import { testTeamToken } from '../../support/world.ts'

interface TriggerWorld extends N8nWorld {
  receiver: Receiver
  /** n8n's static data of the workflow. */
  stored: Record<string, unknown>
  /** Activates the workflow, or restarts n8n with an active one. */
  activate(given?: Partial<NodeInput>): Promise<void>
  deactivate(): Promise<void>
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer
  endpoints(): Promise<any[]>
  /** Delivers an event, signed now. */
  deliver(): Promise<void>
  /** Sends a webhook to n8n; returns the status and what starts the workflow. */
  get(webhook: ReceivedWebhook, given?: Partial<NodeInput>): Promise<{ status: number; items: Item[] | undefined }>
}

const parameters = { events: ['inbox.message.received', 'lead.created'] }

async function triggerWorld(): Promise<TriggerWorld> {
  const w = await n8nWorld()
  const receiver = await startReceiver()
  const owner = await signedInMember(w, 'owner')
  const made = await owner.call('POST', '/tokens', { name: 'n8n', role: 'admin' })
  const credentials = { parleyTeamApi: { baseUrl: w.url, teamToken: made.body.value } }
  const { db, keyStore, log, sequencer, outgoing } = w
  const deps = {
    db,
    keyStore,
    log,
    sequencer,
    outgoing,
    clock: systemClock,
    present: presentAsRecorded,
    random: () => 0,
  }
  const worker = createDeliveryWorker(deps)
  const stored: Record<string, unknown> = {}
  const trigger = w.node('parleyTrigger')
  const methods = trigger.webhookMethods?.default
  const context = (given: Partial<NodeInput> = {}) =>
    w.context(trigger, { parameters, credentials, stored, webhookUrl: receiver.url, ...given })
  return {
    ...w,
    receiver,
    stored,
    endpoints: async () => (await owner.call('GET', '/webhooks')).body.endpoints,
    activate: async (given) => {
      if (!(await methods?.checkExists.call(context(given)))) await methods?.create.call(context(given))
    },
    deactivate: async () => {
      await methods?.delete.call(context())
    },
    deliver: () => worker.drain(),
    get: async ({ headers, text }, given = {}) => {
      const answer = new WebhookAnswer()
      const got = await trigger.webhook?.call(context({ webhook: { headers, text, answer }, ...given }))
      answer.end()
      return { status: answer.statusCode, items: got?.workflowData?.[0] }
    },
  }
}

const first = ({ receiver }: TriggerWorld): ReceivedWebhook => {
  const [received] = receiver.received
  assert.ok(received !== undefined)
  return received
}

test('an active workflow has its own webhook, which is deleted at deactivation', async () => {
  const w = await triggerWorld()
  await w.activate()
  await w.activate()
  const [endpoint, ...others] = await w.endpoints()
  assert.deepEqual([endpoint.url, endpoint.events, others.length], [w.receiver.url, parameters.events, 0])
  await w.customerWrites('Olá, é possível?')
  await w.deliver()
  const { status, items } = await w.get(first(w))
  assert.equal(status, 200)
  const [{ json } = { json: undefined }] = items ?? []
  assert.deepEqual([json.event, json.payload.message.text], ['inbox.message.received', 'Olá, é possível?'])
  assert.equal(json.id, first(w).id)

  await w.deactivate()
  assert.deepEqual(await w.endpoints(), [])
  assert.deepEqual(w.stored, {})
  await w.deactivate()
})

test('unsigned, wrongly signed and old requests start nothing', async () => {
  const w = await triggerWorld()
  await w.activate()
  await w.parley.leads.create({ firstName: 'Ana' })
  await w.deliver()
  const real = first(w)
  const { 'webhook-signature': _signature, ...unsigned } = real.headers
  const old = { ...real.headers, 'webhook-timestamp': '1700000000' }
  for (const webhook of [
    { ...real, headers: unsigned },
    { ...real, headers: old },
    { ...real, text: real.text.replace('Ana', 'Eve') },
  ])
    assert.deepEqual(await w.get(webhook), { status: 401, items: undefined })
  const { secret: _secret, ...without } = w.stored
  assert.deepEqual(await w.get(real, { stored: without }), { status: 401, items: undefined })
  assert.equal((await w.get(real)).items?.length, 1)
})

test('a repeated event starts the workflow once, unless n8n failed to process it', async () => {
  const w = await triggerWorld()
  await w.activate()
  await w.parley.leads.create({ firstName: 'Ana' })
  await w.deliver()
  const { headers, text } = first(w)
  const trigger = w.node('parleyTrigger')
  const given = { parameters, stored: w.stored }
  const failing = new WebhookAnswer()
  const began = await trigger.webhook?.call(
    w.context(trigger, { ...given, webhook: { headers, text, answer: failing } }),
  )
  assert.equal(began?.workflowData?.[0]?.length, 1)
  failing.end(500)
  assert.equal((await w.get(first(w))).items?.length, 1)
  assert.deepEqual(await w.get(first(w)), { status: 200, items: undefined })
})

test('a webhook with other settings is recreated; a test run has its own', async () => {
  const w = await triggerWorld()
  await w.activate()
  const [before] = await w.endpoints()
  await w.activate({ parameters: { events: ['lead.created'], maskPhones: true } })
  const [changed, ...others] = await w.endpoints()
  assert.deepEqual([changed.events, changed.phoneVisibility, others.length], [['lead.created'], 'masked', 0])
  assert.notEqual(changed.id, before.id)
  await w.activate({ mode: 'manual', webhookUrl: `${w.receiver.url}/test`, stored: { ...w.stored } })
  assert.deepEqual((await w.endpoints()).map(({ url }) => url).sort(), [w.receiver.url, `${w.receiver.url}/test`])
})

test('a token with several workspaces requires a choice', async () => {
  const w = await triggerWorld()
  // Another workspace, in addition to those of other tests.
  await n8nWorld()
  const everywhere = { parleyTeamApi: { baseUrl: w.url, teamToken: testTeamToken } }
  await assert.rejects(w.activate({ credentials: everywhere }), /ambiguous/)
  const trigger = w.node('parleyTrigger')
  const offered = await trigger.methods?.loadOptions.getWorkspaces?.call(
    w.context(trigger, { credentials: everywhere }),
  )
  assert.ok(offered?.some(({ value }) => value === w.workspaceId))
  await w.activate({ credentials: everywhere, parameters: { ...parameters, workspaceId: w.workspaceId } })
  assert.equal((await w.endpoints()).length, 1)
})

test('a manually added webhook is verified with the secret of the credential', async () => {
  const w = await triggerWorld()
  const byHand = { registration: 'byHand' }
  await w.activate({ parameters: byHand, credentials: {} })
  assert.deepEqual(await w.endpoints(), [])
  await w.activate()
  const { secret } = w.stored as { secret: string }
  await w.parley.leads.create({ firstName: 'Ana' })
  await w.deliver()
  const pasted = { parameters: byHand, stored: {}, credentials: { parleyWebhookSecretApi: { secret: ` ${secret}` } } }
  assert.equal((await w.get(first(w), pasted)).items?.[0]?.json.event, 'lead.created')
})
