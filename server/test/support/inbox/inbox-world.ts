import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { NewKeyInput } from '../../../src/auth/api-keys/change-key.ts'
import { newId } from '../../../src/base/id.ts'
import type { ChannelEvent, Customer, DeliveryStatus } from '../../../src/channels/channel-event.ts'
import type { Channel } from '../../../src/channels/connection/connection.ts'
import { encryptSettings } from '../../../src/channels/connection/queries.ts'
import type { Contact } from '../../../src/inbox/conversation/conversation.ts'
import { encryptMessage } from '../../../src/inbox/conversation/message.ts'
import { createReceive } from '../../../src/inbox/receive/receive.ts'
import type { ConnectionEvent, ReceiveDeps } from '../../../src/inbox/receive/receiver.ts'
import { publishConnection } from '../../../src/team/live-updates.ts'
import { signedInMember } from '../member.ts'
import { type Answer, type World, world } from '../world.ts'

export const inboxPath = '/api/v1/inbox'
export const conversationPath = (id: string): string => `${inboxPath}/conversations/${id}`

export const marina: Customer = { userId: null, parentUserId: null, phone: '5581991234567', name: 'Marina Duarte' }

type Message = Extract<ChannelEvent, { type: 'message' }>
type Status = Extract<ChannelEvent, { type: 'status' }>
type Json = Answer['body']
export type InboxWorld = Awaited<ReturnType<typeof inboxWorld>>

/** Returns a customer's message as the official channel delivers it; at the current time unless `at` is given. */
export function customerMessage(fields: Partial<Message> & { at: Date }): Message {
  const externalId = `wamid.${randomUUID()}`
  const said = { kind: 'text', text: 'Hello!', referral: null, opensWindow: true } as const
  return { type: 'message', externalId, customer: marina, ...said, ...fields }
}

export interface InboxOptions {
  key?: Partial<NewKeyInput>
}

/** Creates a workspace with an official connection. By default its key only reads, so people own new conversations. */
export async function inboxWorld({ key = {} }: InboxOptions = {}) {
  const w = await world({ scopes: key.scopes ?? ['inbox.read'], key })
  const { db, keyStore, clock, log, workspaceId, call } = w
  const addConnection = connectionMaker(w)
  const connectionId = await addConnection()
  const notified = { connection: [] as ConnectionEvent[], refused: [] as string[], wrote: [] as Contact[] }
  const receiveDeps: ReceiveDeps = {
    db,
    keyStore,
    clock,
    log,
    onConnectionEvent: async (_receiver, event) => void notified.connection.push(event),
    onSendRefused: async (_receiver, code) => void notified.refused.push(code),
    onCustomersWrote: async (_workspaceId, writers) => void notified.wrote.push(...writers),
  }
  /** Delivers events to the inbox as the channel does. */
  const deliverOn = async (id: string, ...events: ChannelEvent[]): Promise<void> => {
    await createReceive(receiveDeps)({ workspaceId, id, channel: 'waba' }, events)
  }
  // Reading needs a key that sees everything, whatever access the test's own key has.
  const { value: reader } = await w.addKey({ scopes: ['inbox.read'] })
  const conversations = async (query: Record<string, string> = {}): Promise<Json[]> => {
    const { status, body } = await call('GET', `${inboxPath}/conversations`, { query, key: reader })
    assert.equal(status, 200, JSON.stringify(body))
    return body.conversations
  }
  const messages = async (id: string): Promise<Json[]> =>
    (await call('GET', `${conversationPath(id)}/messages`, { query: { limit: '100' }, key: reader })).body.messages

  return {
    ...w,
    connectionId,
    notified,
    receiveDeps,
    addConnection,
    deliverOn,
    deliver: (...events: ChannelEvent[]) => deliverOn(connectionId, ...events),
    conversations,
    /** Receives a customer's message now; returns the conversation as the API shows it. */
    customerWrites: async (text: string, fields: Partial<Message> = {}): Promise<Json> => {
      const event = customerMessage({ at: clock.now(), text, ...fields })
      await deliverOn(connectionId, event)
      const [found] = await conversations({ phone: event.customer.phone ?? '' })
      return found
    },
    messages,
    /** Returns the texts, oldest first. */
    texts: async (id: string): Promise<string[]> => (await messages(id)).map(({ text }) => text),
    patch: (id: string, body: object, key?: string) =>
      call('PATCH', conversationPath(id), { body, ...(key === undefined ? {} : { key }) }),
    /** Creates a send with this many parts that waits for the platform's answer. */
    pendingSend: (conversationId: string, parts = 1) => pendingSend(w, connectionId, conversationId, parts),
    status: (externalId: string, status: DeliveryStatus, more: Partial<Status> = {}): Status => {
      const unknown = { errorCode: null, correlator: null, customer: null }
      return { type: 'status', externalId, status, at: clock.now(), ...unknown, ...more }
    },
  }
}

/** Only files are sent to `baseUrl`, messages never. */
const connectionMaker =
  ({ db, keyStore, clock, workspaceId }: World) =>
  async (channel: Channel = 'waba', baseUrl = 'http://127.0.0.1'): Promise<string> => {
    const [id, now] = [newId(clock.now()), clock.now()]
    const secrets = { version: 'v25.0', accessToken: 't', appSecret: 's', verifyToken: 'v' }
    const settings = encryptSettings(await keyStore.keyring(workspaceId), id, { baseUrl, ...secrets })
    await db.tx(async (tx) => {
      await tx`
        insert into connections (
          workspace_id, id, channel, name, number_id, settings, state, state_changed_at, reserved_as, templates_due_at,
          created_at, updated_at
        )
        values (
          ${workspaceId}, ${id}, ${channel}, 'Shop', ${randomUUID()}, ${settings}, 'active', ${now},
          ${`http://127.0.0.1 ${id}`}, ${channel === 'unofficial' ? null : now}, ${now}, ${now}
        )`
      publishConnection(tx, workspaceId, id)
    })
    return id
  }

/** Creates a customer's conversation with an agent, and a member who can take over; `place`: its team API path. */
export async function conversationWorld(agentSettings: Partial<NewKeyInput> = {}) {
  const w = await inboxWorld()
  const agent = await addAgent(w, agentSettings)
  const { id } = await w.customerWrites('Hi')
  w.clock.advance(1000)
  const member = await signedInMember(w)
  return { w, agent, id: id as string, member, place: `/inbox/conversations/${id}` }
}

/** Adds another key of the workspace that can own conversations. */
export const addAgent = (w: World, settings: Partial<NewKeyInput> = {}): Promise<{ id: string; value: string }> =>
  w.addKey({ name: 'Agent', scopes: ['inbox.read', 'inbox.write'], quietSeconds: 0, ...settings })

export async function addLabel({ db, workspaceId, clock }: World, name: string): Promise<string> {
  const id = newId(clock.now())
  await db.sql`
    insert into labels (workspace_id, id, name, color, created_at)
    values (${workspaceId}, ${id}, ${name}, 'red', ${clock.now()})`
  return id
}

async function pendingSend(w: World, connectionId: string, conversationId: string, parts: number): Promise<string> {
  const { db, keyStore, clock, workspaceId, keyId } = w
  const now = clock.now()
  const id = newId(now)
  const said = { direction: 'outbound', kind: 'text', origin: 'live', text: 'Good morning', referral: null } as const
  const times = {
    createdAt: now,
    occurredAt: new Date(now.getTime() + 500),
    settleBy: new Date(now.getTime() + 600_000),
  }
  const row = encryptMessage(await keyStore.keyring(workspaceId), {
    ...{ id, conversationId, connectionId, externalId: null, status: 'pending', errorCode: null },
    ...said,
    ...times,
    actor: { type: 'agent', id: keyId },
  })
  await db.tx(async (tx) => {
    await tx`insert into messages ${tx.row({ ...row, workspace_id: workspaceId })}`
    await tx`
      insert into message_parts (workspace_id, message_id, part, connection_id, status)
      select ${workspaceId}::uuid, ${id}::uuid, part, ${connectionId}::uuid, 'pending'
      from generate_series(1, ${parts}) as part`
  })
  return id
}
