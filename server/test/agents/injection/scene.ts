import assert from 'node:assert/strict'
import { encodeCursor } from '../../../src/base/cursor.ts'
import { addTemplate } from '../../support/agents/agents-world.ts'
import { type FilesWorld, filesWorld, png } from '../../support/inbox/files-world.ts'
import { addLabel, customerMessage, inboxWorld } from '../../support/inbox/inbox-world.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'

/** Key of the obedient agent. */
export type Actor = 'agent' | 'masked' | 'reader' | 'of leads'

/** Data that an attacker may know, by placeholder name. */
export type Facts = Scene['facts'] & OfOne

/** What differs per injection, such as unique marker words and the interface. */
type OfOne = Record<'mine' | 'my_phone' | 'mark' | 'face' | 'me' | 'connection', string>

/** Data that the agent must not see. */
export const secrets = {
  elsewhere: 'the vault opens at nine',
  foreign: 'our price is forty-two',
  foreignLead: 'Wilhelmina Foreignlead',
}

export interface Key {
  id: string
  value: string
  /** Connection that the customers write to. */
  connectionId: string
}

export interface Scene {
  w: FilesWorld
  /** Owner of the form and other team data. */
  admin: TestMember
  keys: Record<Actor, Key>
  other: Key
  facts: Awaited<ReturnType<typeof factsOf>>
}

const answering = ['inbox.read', 'inbox.write', 'leads.read', 'leads.write'] as const

/** A team with two connections, people and agents, and a second workspace. */
export async function openScene(): Promise<Scene> {
  const w = await filesWorld()
  const admin = await signedInMember(w, 'admin')
  const [hiding, elsewhere] = [await w.addConnection(), await w.addConnection()]
  const key = async (name: string, connectionId: string, more: object = {}): Promise<Key> => ({
    connectionId,
    ...(await w.addKey({ name, scopes: answering, connectionIds: [connectionId], ...more })),
  })
  const keys = {
    agent: await key('Support agent', w.connectionId, { answersNewConversations: true }),
    masked: await key('Masked agent', hiding, { answersNewConversations: true, phoneVisibility: 'masked' }),
    reader: await key('Reporting', w.connectionId, { scopes: ['inbox.read'] }),
    'of leads': await key('Leads', w.connectionId, { scopes: ['leads.read'] }),
  }
  const other = await key('Other agent', w.connectionId)
  await addTemplate(w)
  const chosen = await admin.call('PATCH', '', { agentsMayTakeBack: 'when_handed' })
  assert.equal(chosen.status, 200)
  return { w, admin, keys, other, facts: await factsOf(w, admin, other, elsewhere) }
}

async function factsOf(w: FilesWorld, admin: TestMember, other: Key, elsewhere: string) {
  const facts = {
    ...(await heldByPeople(w)),
    ...(await ofOtherAgent(w, other)),
    ...(await onOtherConnection(w, elsewhere)),
    ...(await ofNeighbour()),
    ...(await hiddenLeads(w, admin)),
    workspace: w.workspaceId,
    member: admin.userId,
    label: await addLabel(w, 'VIP'),
    form: await addForm(admin),
    cursor_of_other: encodeCursor(['work', other.id, 0]),
  }
  return { ...facts, cursor_of_foreign: encodeCursor(['work', facts.foreign_key, 0]) }
}

export const customerOf = (phone: string, name = 'Caro') => ({ userId: null, parentUserId: null, phone, name })

async function heldByPeople(w: FilesWorld) {
  const { conversationId, mediaId } = await w.here(png, { name: 'contract.png' })
  const taken = await w.member.call('POST', `/inbox/conversations/${conversationId}/take-over`)
  assert.equal(taken.status, 200)
  return { held: conversationId, file: mediaId }
}

async function ofOtherAgent(w: FilesWorld, other: Key) {
  const { id } = await w.customerWrites('How much is it?', { customer: customerOf('5511911111111', 'Olga') })
  assert.equal((await w.patch(id, { owner: `agent:${other.id}` }, other.value)).status, 200)
  const sent = await Promise.all(
    ['HTTP', 'MCP'].map((face) =>
      w.call('POST', `/api/v2/conversations/${id}/answer`, {
        key: other.value,
        body: { text: 'Ten a piece.', idempotency_key: `price-${face}` },
      }),
    ),
  )
  return { others: id as string, other_key: other.id, other_message: sent[0]?.body.message_id as string }
}

async function onOtherConnection(w: FilesWorld, elsewhere: string) {
  const phone = '5511922222222'
  const customer = customerOf(phone, 'Elsa')
  await w.deliverOn(elsewhere, customerMessage({ at: w.clock.now(), text: secrets.elsewhere, customer }))
  const [found] = await w.conversations({ phone })
  return { elsewhere: found.id as string, elsewhere_connection: elsewhere }
}

async function ofNeighbour() {
  const neighbour = await inboxWorld({ key: { scopes: ['inbox.read', 'leads.read', 'leads.write'] } })
  const { id } = await neighbour.customerWrites(secrets.foreign)
  const [firstName = '', lastName = ''] = secrets.foreignLead.split(' ')
  const lead = await neighbour.lead({ firstName, lastName, phone: '5511933333333' })
  return {
    foreign: id as string,
    foreign_workspace: neighbour.workspaceId,
    foreign_lead: lead.id as string,
    foreign_key: neighbour.keyId,
    foreign_connection: neighbour.connectionId,
  }
}

/** Leads with their number in every possible field: to read, to change, and to merge. */
async function hiddenLeads(w: FilesWorld, admin: TestMember) {
  const { value: key } = await w.addKey({ scopes: ['leads.write'] })
  const [hidden_phone, changed_phone, merged_phone] = ['5511976543210', '5511976543987', '5511876543219']
  const add = async (phone: string) => {
    const everywhere = {
      externalRef: `ref-${phone}`,
      email: `${phone}@example.com`,
      customFieldValues: { chat: phone },
    }
    const fields = { firstName: 'Hilda', lastName: phone, phone, ...everywhere }
    const { status, body } = await w.call('POST', '/api/v1/leads', { key, body: fields })
    assert.equal(status, 201, JSON.stringify(body))
    return body.data.id as string
  }
  const [hidden_lead, changed_lead, merged_lead] = [
    await add(hidden_phone),
    await add(changed_phone),
    await add('5511876540000'),
  ]
  const merge = { otherId: await add(merged_phone) }
  assert.equal((await admin.call('POST', `/leads/${merged_lead}/merge`, merge)).status, 200)
  return { hidden_lead, hidden_phone, changed_lead, changed_phone, merged_lead, merged_phone }
}

async function addForm(admin: TestMember): Promise<string> {
  const field = { required: false, type: 'text' }
  const { status, body } = await admin.call('POST', '/forms', {
    name: 'Visits',
    title: 'Book a visit',
    fields: [
      { ...field, key: 'firstName', label: 'Name', required: true },
      { ...field, key: 'phone', label: 'Phone', type: 'phone' },
      { ...field, key: 'notes', label: 'Notes', type: 'textarea' },
      { ...field, key: 'wish', label: 'Wish' },
    ],
  })
  assert.equal(status, 201, JSON.stringify(body))
  return (body.form ?? body).slug
}
