import assert from 'node:assert/strict'
import { encodeCursor } from '../../../src/base/cursor.ts'
import { addTemplate } from '../../support/agents/agents-world.ts'
import { type FilesWorld, filesWorld, png } from '../../support/inbox/files-world.ts'
import { addLabel, customerMessage, inboxWorld } from '../../support/inbox/inbox-world.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'

/** Whose key the obedient agent has. */
export type Actor = 'agent' | 'masked' | 'reader' | 'of leads'

/** What an attacker may have found out, by the name under which an injection speaks of it. */
export interface Facts {
  mine: string
  my_phone: string
  /** Words that are in no other injection, and by which face it is tried. */
  mark: string
  face: string
  me: string
  workspace: string
  connection: string
  /** A conversation that a person has taken over, and a file in it. */
  held: string
  file: string
  /** Another agent's, and its key. */
  others: string
  other_key: string
  other_message: string
  /** On a connection that the key does not see. */
  elsewhere: string
  elsewhere_connection: string
  /** Of another workspace. */
  foreign: string
  foreign_workspace: string
  foreign_lead: string
  foreign_key: string
  foreign_connection: string
  /** A lead whose number a masked key must not learn. */
  hidden_lead: string
  hidden_phone: string
  member: string
  label: string
  form: string
  cursor_of_other: string
  cursor_of_foreign: string
}

/** What stands where the agent may not look. */
export const secrets = {
  elsewhere: 'the vault opens at nine',
  foreign: 'our price is forty-two',
  foreignLead: 'Wilhelmina Foreignlead',
}

export interface Key {
  id: string
  value: string
  /** Where its customers write. */
  connectionId: string
}

export interface Scene {
  w: FilesWorld
  /** Who owns the form and everything else that the team sees. */
  admin: TestMember
  keys: Record<Actor, Key>
  other: Key
  facts: Omit<Facts, 'mine' | 'my_phone' | 'mark' | 'face' | 'me' | 'connection'>
}

const answering = ['inbox.read', 'inbox.write', 'leads.read', 'leads.write'] as const

/** A team with two connections, people and agents at work, and a neighbour whose workspace is none of its business. */
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
  const facts = {
    ...(await heldByPeople(w)),
    ...(await ofOtherAgent(w, other)),
    ...(await onOtherConnection(w, elsewhere)),
    ...(await ofNeighbour()),
    ...(await hiddenLead(w)),
    workspace: w.workspaceId,
    member: admin.userId,
    label: await addLabel(w, 'VIP'),
    form: await addForm(admin),
  }
  return {
    w,
    admin,
    keys,
    other,
    facts: {
      ...facts,
      cursor_of_other: encodeCursor(['work', other.id, 0]),
      cursor_of_foreign: encodeCursor(['work', facts.foreign_key, 0]),
    },
  }
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
  return { others: id, other_key: other.id, other_message: sent[0]?.body.message_id }
}

async function onOtherConnection(w: FilesWorld, elsewhere: string) {
  const phone = '5511922222222'
  const customer = customerOf(phone, 'Elsa')
  await w.tellOn(elsewhere, customerMessage({ at: w.clock.now(), text: secrets.elsewhere, customer }))
  const [found] = await w.conversations({ phone })
  return { elsewhere: found.id, elsewhere_connection: elsewhere }
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

async function hiddenLead(w: FilesWorld) {
  const phone = '5511976543210'
  const { value: key } = await w.addKey({ scopes: ['leads.write'] })
  const { status, body } = await w.call('POST', '/api/v1/leads', { key, body: { firstName: 'Hilda', phone } })
  assert.equal(status, 201)
  return { hidden_lead: body.data.id as string, hidden_phone: phone }
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
