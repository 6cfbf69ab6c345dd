import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { NewKeyInput } from '../../../src/access/keys/change.ts'
import { newId } from '../../../src/base/id.ts'
import type { ChannelEvent, Customer, DeliveryStatus } from '../../../src/channels/channel-event.ts'
import type { Channel } from '../../../src/channels/connection/connection.ts'
import { sealSettings } from '../../../src/channels/connection/sealed.ts'
import type { Contact } from '../../../src/inbox/conversation/conversation.ts'
import { sealMessage } from '../../../src/inbox/conversation/message.ts'
import type { ConnectionEvent } from '../../../src/inbox/receive/group-events.ts'
import { receive } from '../../../src/inbox/receive/receive.ts'
import type { ReceiveDeps } from '../../../src/inbox/receive/receiver.ts'
import { announceConnection } from '../../../src/team/team-news.ts'
import { signedInMember } from '../member.ts'
import { type Answer, type World, world } from '../world.ts'
import { deliverTogether } from './deliveries-together.ts'

export const inboxPath = '/api/v1/inbox'
export const conversationPath = (id: string): string => `${inboxPath}/conversations/${id}`

export const marina: Customer = { userId: null, parentUserId: null, phone: '5581991234567', name: 'Marina Duarte' }

type Message = Extract<ChannelEvent, { type: 'message' }>

/** A customer's message as the official channel tells it; at this moment unless `at` is given. */
export function customerMessage(fields: Partial<Message> & { at: Date }): Message {
  return {
    type: 'message',
    externalId: `wamid.${randomUUID()}`,
    customer: marina,
    kind: 'text',
    text: 'Hello!',
    referral: null,
    opensWindow: true,
    ...fields,
  }
}

export interface InboxWorld extends World {
  connectionId: string
  /** Hands events to the inbox as the channel does. */
  tell(...events: ChannelEvent[]): Promise<void>
  tellOn(connectionId: string, ...events: ChannelEvent[]): Promise<void>
  /** A customer writes now; answers the conversation as the API shows it. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer
  customerWrites(text: string, fields?: Partial<Message>): Promise<any>
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer
  conversations(query?: Record<string, string>): Promise<any[]>
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer
  messages(conversationId: string): Promise<any[]>
  /** Their texts, oldest first. */
  texts(conversationId: string): Promise<string[]>
  eventNames(conversationId: string): Promise<string[]>
  patch(id: string, body: object, key?: string): Promise<Answer>
  /** Messages never reach `baseUrl`, files do. */
  addConnection(channel?: Channel, baseUrl?: string): Promise<string>
  /** A send of the given number of parts that waits for the platform's answer. */
  pendingSend(conversationId: string, parts?: number): Promise<string>
  status(externalId: string, status: DeliveryStatus, more?: Partial<Status>): Status
  told: { connection: ConnectionEvent[]; refused: string[]; wrote: Contact[] }
  receiveDeps: ReceiveDeps
}

type Status = Extract<ChannelEvent, { type: 'status' }>

export interface InboxOptions {
  key?: Partial<NewKeyInput>
  /** Each event that is told comes in a delivery of its own, and all of them go together; else they are one delivery. */
  isTogether?: boolean
}

const inboxScopes = ['inbox.read', 'inbox.write'] as const

/** A workspace with an official connection. The key that calls reads only, so that people own what begins here. */
export async function inboxWorld(options: InboxOptions = {}): Promise<InboxWorld> {
  const w = await world({ scopes: options.key?.scopes ?? ['inbox.read'], key: options.key ?? {} })
  const { db, vault, clock, log, workspaceId, call } = w
  const addConnection = async (channel: Channel = 'waba', baseUrl = 'http://127.0.0.1') => {
    const [id, now] = [newId(clock.now()), clock.now()]
    const settings = { baseUrl, version: 'v25.0', accessToken: 't', appSecret: 's', verifyToken: 'v' }
    // What settings there are matters to no test here: nothing is sent by a real connector.
    const sealed = sealSettings(await vault.keyring(workspaceId), id, settings)
    await db.tx(async (tx) => {
      await tx`
        insert into connections (
          workspace_id, id, channel, name, number_id, settings, state, state_changed_at, reserved_as, templates_due_at,
          created_at, updated_at
        )
        values (
          ${workspaceId}, ${id}, ${channel}, 'Shop', ${randomUUID()}, ${sealed}, 'active', ${now},
          ${`http://127.0.0.1 ${id}`}, ${channel === 'unofficial' ? null : now}, ${now}, ${now}
        )`
      announceConnection(tx, workspaceId, id)
    })
    return id
  }
  const connectionId = await addConnection()
  const told: InboxWorld['told'] = { connection: [], refused: [], wrote: [] }
  const receiveDeps: ReceiveDeps = {
    db,
    vault,
    clock,
    log,
    connectionTold: async (_receiver, event) => {
      told.connection.push(event)
    },
    sendRefused: async (_receiver, code) => {
      told.refused.push(code)
    },
    customersWrote: async (_workspaceId, writers) => {
      told.wrote.push(...writers)
    },
  }
  const tellOn: InboxWorld['tellOn'] = async (id, ...events) => {
    const receiver = { workspaceId, id, channel: 'waba' } as const
    if (options.isTogether !== true) return receive(receiveDeps, receiver, events)
    const deliveries = events.map((event) => ({ receiver, events: [event] }))
    for (const outcome of await deliverTogether(receiveDeps, deliveries)) {
      if (outcome.status === 'rejected') throw outcome.reason
    }
  }
  // Reading needs a key that sees everything, whatever the test's own key sees.
  const { value: reader } = await w.addKey({ scopes: ['inbox.read'] })
  const conversations: InboxWorld['conversations'] = async (query = {}) => {
    const { status, body } = await call('GET', `${inboxPath}/conversations`, { query, key: reader })
    assert.equal(status, 200, JSON.stringify(body))
    return body.conversations
  }
  const messages: InboxWorld['messages'] = async (id) =>
    (await call('GET', `${conversationPath(id)}/messages`, { query: { limit: '100' }, key: reader })).body.messages

  return {
    ...w,
    connectionId,
    told,
    receiveDeps,
    addConnection,
    tellOn,
    tell: (...events) => tellOn(connectionId, ...events),
    conversations,
    customerWrites: async (text, fields = {}) => {
      const event = customerMessage({ at: clock.now(), text, ...fields })
      await tellOn(connectionId, event)
      const [found] = await conversations({ phone: event.customer.phone ?? '' })
      return found
    },
    messages,
    texts: async (id) => (await messages(id)).map(({ text }) => text),
    eventNames: async (id) => (await w.events(id)).map(({ name }) => name),
    patch: (id, body, key) => call('PATCH', conversationPath(id), { body, ...(key === undefined ? {} : { key }) }),
    pendingSend: (conversationId, parts = 1) => pendingSend(w, connectionId, conversationId, parts),
    status: (externalId, status, more = {}) => ({
      type: 'status',
      externalId,
      status,
      errorCode: null,
      at: clock.now(),
      correlator: null,
      customer: null,
      ...more,
    }),
  }
}

/** A customer who has written to an agent, and a member who may take over; `place` is the conversation in the team API. */
export async function conversationWorld(agentSettings: Partial<NewKeyInput> = {}) {
  const w = await inboxWorld()
  const agent = await addAgent(w, agentSettings)
  const { id } = await w.customerWrites('Hi')
  w.clock.advance(1000)
  const member = await signedInMember(w)
  return { w, agent, id: id as string, member, place: `/inbox/conversations/${id}` }
}

/** Another key of the workspace that may own conversations. */
export function addAgent(w: World, settings: Partial<NewKeyInput> = {}): Promise<{ id: string; value: string }> {
  return w.addKey({ name: 'Agent', scopes: inboxScopes, ...settings })
}

export async function addLabel({ db, workspaceId, clock }: World, name: string): Promise<string> {
  const id = newId(clock.now())
  await db.sql`
    insert into labels (workspace_id, id, name, color, created_at)
    values (${workspaceId}, ${id}, ${name}, 'red', ${clock.now()})`
  return id
}

async function pendingSend(w: World, connectionId: string, conversationId: string, parts: number): Promise<string> {
  const { db, vault, clock, workspaceId, keyId } = w
  const keyring = await vault.keyring(workspaceId)
  const now = clock.now()
  const id = newId(now)
  const row = sealMessage(keyring, {
    id,
    conversationId,
    connectionId,
    direction: 'outbound',
    kind: 'text',
    origin: 'live',
    text: 'Good morning',
    referral: null,
    externalId: null,
    status: 'pending',
    errorCode: null,
    actor: { type: 'agent', id: keyId },
    occurredAt: new Date(now.getTime() + 500),
    createdAt: now,
    settleBy: new Date(now.getTime() + 600_000),
  })
  await db.tx(async (tx) => {
    await tx`insert into messages ${tx.row({ ...row, workspace_id: workspaceId })}`
    for (let part = 1; part <= parts; part++) {
      await tx`
        insert into message_parts (workspace_id, message_id, part, connection_id, status)
        values (${workspaceId}, ${id}, ${part}, ${connectionId}, 'pending')`
    }
  })
  return id
}
