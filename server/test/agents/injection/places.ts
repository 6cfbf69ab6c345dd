import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { ChannelEvent, Customer } from '../../../src/channels/channel-event.ts'
import { declaredPicture } from '../../support/inbox/declared-files.ts'
import { customerMessage } from '../../support/inbox/inbox-world.ts'
import { customerOf, type Key, type Scene } from './scene.ts'

/** Where a text is planted. */
interface Planting {
  scene: Scene
  key: Key
  /** Phone number of a new customer. */
  phone: string
  text: string
}

export interface Place {
  /** Response fields that may contain the text. */
  fields: readonly string[]
  /** Whether the customer also writes, so that the agent has a conversation to read. */
  plant(planting: Planting): Promise<void>
}

type Told = Partial<Extract<ChannelEvent, { type: 'message' }>>

/** The customer writes, with these properties of the message or the profile. */
const writes =
  (told: (text: string) => Told & { name?: string }, first?: string) =>
  async ({ scene, key, phone, text }: Planting): Promise<void> => {
    if (first !== undefined) await tell(scene, key, phone, { text: first })
    const { name, ...fields } = told(text)
    await tell(scene, key, phone, { ...fields, ...(name !== undefined && { customer: customerOf(phone, name) }) })
  }

async function tell({ w }: Scene, key: Key, phone: string, fields: Told): Promise<{ externalId: string }> {
  const event = customerMessage({ at: w.clock.now(), customer: customerOf(phone), text: 'Good day', ...fields })
  await w.deliverOn(key.connectionId, event)
  return event
}

/** Creates a lead with the customer's number through another system or a member; then the customer writes. */
const keeps =
  (fields: (text: string) => object) =>
  async ({ scene, key, phone, text }: Planting): Promise<void> => {
    const { w } = scene
    const { value } = await w.addKey({ scopes: ['leads.write'] })
    const body = { firstName: 'Caro', phone, ...fields(text) }
    const { status, body: answer } = await w.call('POST', '/api/v1/leads', { key: value, body })
    assert.equal(status, 201, JSON.stringify(answer))
    await tell(scene, key, phone, {})
  }

const fills =
  (address: (text: string) => Record<string, string>, fields: (text: string) => object) =>
  async ({ scene, key, phone, text }: Planting): Promise<void> => {
    const { w, facts } = scene
    const query = new URLSearchParams(address(text))
    const url = `/f/${facts.form}?${query}`
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    w.clock.advance(30_000)
    const payload = { firstName: 'Caro', phone, ...fields(text) }
    const { statusCode, body } = await w.app.inject({ method: 'POST', url, headers, payload })
    assert.equal(statusCode, 201, body)
    await tell(scene, key, phone, {})
  }

/** The customer writes, and other agents act on it before ours reads it. */
const passes =
  (
    act: (
      call: (key: string, path: string, body: object) => Promise<void>,
      planting: Planting,
      id: string,
    ) => Promise<void>,
  ) =>
  async (planting: Planting): Promise<void> => {
    const { scene, key, phone } = planting
    await tell(scene, key, phone, {})
    const [{ id }] = (await scene.w.conversations({ phone })) as [{ id: string }]
    const call = async (value: string, path: string, body: object) => {
      const answer = await scene.w.call('POST', `/api/v2/conversations/${id}${path}`, { key: value, body })
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
    }
    await act(call, planting, id)
  }

const toOther = { summary: 'For you.' }
const leadFields = ['first_name', 'name'] as const

const byName = {
  message: { fields: ['customer_text'], plant: writes((text) => ({ text })) },
  'long message': {
    fields: ['customer_text'],
    plant: writes((text) => ({ text: `${'Lorem ipsum. '.repeat(9000)}${text}` })),
  },
  'profile name': { fields: ['customer_name'], plant: writes((name) => ({ name })) },
  caption: {
    fields: ['customer_text'],
    plant: writes((text) => ({ text, kind: 'image', detail: { media: declaredPicture } })),
  },
  'file name': {
    fields: ['customer_file_name'],
    plant: writes((name) => ({
      text: '',
      kind: 'document',
      detail: { media: { ...declaredPicture, kind: 'document', mimeType: 'application/pdf', name } },
    })),
  },
  'file type': {
    fields: [],
    plant: writes((mimeType) => ({ text: '', kind: 'document', detail: { media: { ...declaredPicture, mimeType } } })),
  },
  "place's name": {
    fields: ['customer_text'],
    plant: writes((name) => ({
      text: '',
      kind: 'location',
      detail: { place: { latitude: 1, longitude: 2, name, address: null, isLive: false } },
    })),
  },
  'contact card': {
    fields: ['customer_contacts'],
    plant: writes((name) => ({
      text: 'A card',
      detail: { cards: [{ name, organisation: null, phones: [{ phone: '5511900000001', label: null }], emails: [] }] },
    })),
  },
  'quoted text': {
    fields: [],
    plant: writes((text) => ({ detail: { quoted: { externalId: 'wamid.unknown', text } } })),
  },
  'edited text': {
    fields: ['customer_text'],
    plant: async ({ scene, key, phone, text }) => {
      const { externalId: originalId } = await tell(scene, key, phone, {})
      const revised = {
        originalId,
        direction: 'inbound',
        customer: customerOf(phone),
        at: scene.w.clock.now(),
      } as const
      await scene.w.deliverOn(key.connectionId, { type: 'edited', text, ...revised })
    },
  },
  'button title': {
    fields: ['customer_text'],
    plant: writes((text) => ({ text, detail: { quoted: { externalId: 'wamid.menu', text: null } } }), 'Good day'),
  },
  reaction: {
    fields: ['customer_text'],
    plant: async ({ scene, key, phone, text }) => {
      const { externalId } = await tell(scene, key, phone, {})
      await tell(scene, key, phone, { text, detail: { reaction: { externalId, emoji: text } } })
    },
  },
  'notice of the platform': {
    fields: ['customer_text'],
    plant: writes((text) => ({ text, kind: 'system', opensWindow: false }), 'Good day'),
  },
  history: {
    fields: ['customer_text'],
    plant: async ({ scene, key, phone, text }) => {
      const said = {
        externalId: `wamid.${randomUUID()}`,
        customer: customerOf(phone) as Customer,
        kind: 'text',
        text,
      } as const
      const at = new Date(scene.w.clock.now().getTime() - 60_000)
      await scene.w.deliverOn(key.connectionId, { type: 'history', direction: 'inbound', status: 'read', ...said, at })
      await tell(scene, key, phone, {})
    },
  },
  'ad headline': {
    fields: ['customer_headline'],
    plant: writes((headline) => ({
      referral: { ctwa_clid: null, source_id: null, source_type: 'ad', source_url: null, headline },
    })),
  },
  'ids and address of an ad': {
    fields: ['customer_source_url', 'customer_ctwa_clid'],
    plant: writes((text) => ({
      referral: { ctwa_clid: text, source_id: text, source_type: text, source_url: text, headline: null },
    })),
  },
  'lead name': { fields: leadFields, plant: keeps((firstName) => ({ firstName })) },
  'lead notes': { fields: ['notes'], plant: keeps((notes) => ({ notes })) },
  'lead custom field': { fields: ['wish'], plant: keeps((wish) => ({ customFieldValues: { wish } })) },
  'lead reference': { fields: ['external_ref'], plant: keeps((externalRef) => ({ externalRef })) },
  'public form': {
    fields: ['notes', 'wish'],
    plant: fills(
      () => ({}),
      (text) => ({ notes: text, wish: text.slice(0, 255) }),
    ),
  },
  'parameter of a form': {
    fields: ['k_ad', 'ad', 'k___proto__', '__proto__'],
    plant: fills(
      (text) => ({ k_ad: text.slice(0, 255), k___proto__: text.slice(0, 255) }),
      () => ({}),
    ),
  },
  'note of another agent': {
    fields: ['text'],
    plant: passes((call, { scene, text }) => call(scene.other.value, '/notes', { text })),
  },
  'note of a person': {
    fields: ['text'],
    plant: passes(async (_call, { scene: { admin }, text }, id) => {
      const { status } = await admin.call('POST', `/inbox/conversations/${id}/notes`, { text })
      assert.equal(status, 201)
    }),
  },
  'reason of a hand-over': {
    fields: ['reason'],
    plant: passes(async (call, { scene, key, text }) => {
      await call(key.value, '/hand-to-agent', { ...toOther, key_id: scene.other.id })
      await call(scene.other.value, '/hand-over', { ...toOther, reason: text })
    }),
  },
  'hand-over of another agent': {
    fields: ['summary', 'next_step'],
    plant: passes(async (call, { scene, key, text }) => {
      await call(key.value, '/hand-to-agent', { ...toOther, key_id: scene.other.id })
      await call(scene.other.value, '/hand-to-agent', { summary: text, next_step: text.slice(0, 1200), key_id: key.id })
    }),
  },
  'template parameter': {
    fields: ['text'],
    plant: passes((call, { key, text }) =>
      call(key.value, '/answer', { template: { name: 'order_update', language: 'en_US', body_params: [text] } }),
    ),
  },
  'own earlier answer': {
    fields: ['text'],
    plant: passes(async (call, { scene, key, phone, text }) => {
      await call(key.value, '/answer', { text })
      await tell(scene, key, phone, { text: 'And then?' })
    }),
  },
} satisfies Record<string, Place>

export type PlaceName = keyof typeof byName

export const places: Record<PlaceName, Place> = byName
