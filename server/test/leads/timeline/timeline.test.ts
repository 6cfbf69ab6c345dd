import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statementsOf } from '../../support/database.ts'
import { type InboxWorld, inboxWorld } from '../../support/inbox/inbox-world.ts'
import { leadPath } from '../../support/leads/leads.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'
import { pick } from '../../support/pick.ts'
import { clearStatistics, findBadPlans } from '../../support/query-plans.ts'

const phone = '5581991234567'

interface Entry {
  id: string
  at: string
  kind: string
  actor: { type: string; id: string } | null
  partOf: string | null
  changes: { field: string; label?: string; from: unknown; to: unknown }[]
  text: string | null
  message: { direction: string; file: string | null } | null
}

async function withMember() {
  const w = await inboxWorld({ key: { scopes: ['leads.read', 'leads.write', 'leads.delete', 'inbox.read'] } })
  return { w, member: await signedInMember(w) }
}

async function timeline(member: TestMember, id: string, query = ''): Promise<Entry[]> {
  const { status, body } = await member.call('GET', `/leads/${id}/timeline${query}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body.entries
}

/** Lead with an entry of every kind, one second apart. */
async function busyLead(w: InboxWorld, member: TestMember): Promise<string> {
  const { id } = await w.lead({ phone, customFieldValues: { cidade: 'Recife' } })
  const then = () => w.clock.advance(1000)
  then()
  const conversation = await w.customerWrites('Hello')
  then()
  await w.call('PATCH', leadPath(id), { body: { priority: 'urgent', estimatedValue: 250 } })
  then()
  await member.call('PATCH', `/leads/${id}`, { status: 'qualified', customFieldValues: { cidade: 'Olinda' } })
  then()
  await member.call('POST', `/leads/${id}/notes`, { text: 'Prefers mornings' })
  then()
  await member.call('POST', `/inbox/conversations/${conversation.id}/notes`, { text: 'Asked for the price' })
  return id
}

const brief = ({ kind, actor, text, changes }: Entry) =>
  [kind, actor?.type ?? '-', text ?? changes.map(({ field, from, to }) => `${field} ${from} ${to}`).join(', ')].join(
    ' ',
  )

test('a timeline has messages, notes and changes of a lead with their authors, newest first', async () => {
  const { w, member } = await withMember()
  const id = await busyLead(w, member)
  const entries = await timeline(member, id)
  assert.deepEqual(entries.map(brief).sort(), [
    'created agent ',
    'fields agent priority medium urgent, estimatedValue null 250',
    'fields user field:cidade Recife Olinda',
    'message - Hello',
    'note user Asked for the price',
    'note user Prefers mornings',
    'status user status new qualified',
  ])
  const times = entries.map(({ at }) => at)
  assert.deepEqual(times, [...times].sort().reverse())
  assert.equal(entries.find(({ kind }) => kind === 'message')?.message?.direction, 'inbound')
  assert.equal(entries.find(({ kind }) => kind === 'created')?.actor?.id, w.keyId)
})

test('pages of a timeline have no gaps or repeats, for any kinds', async () => {
  const { w, member } = await withMember()
  const id = await busyLead(w, member)
  const all = await timeline(member, id)
  const read: string[] = []
  let cursor = ''
  for (let pages = 0; pages <= all.length; pages++) {
    const { body } = await member.call('GET', `/leads/${id}/timeline?limit=1${cursor}`)
    read.push(...body.entries.map((entry: Entry) => entry.id))
    if (body.nextCursor === null) break
    cursor = `&cursor=${body.nextCursor}`
  }
  assert.deepEqual(read, pick(all, 'id'))
  assert.equal((await member.call('GET', `/leads/${id}/timeline?cursor=abc`)).status, 400)
})

test('a timeline can be filtered by messages, notes or changes', async () => {
  const { w, member } = await withMember()
  const id = await busyLead(w, member)
  const kinds = async (kind: string) => (await timeline(member, id, `?kind=${kind}`)).map((entry) => entry.kind)
  assert.deepEqual(await kinds('messages'), ['message'])
  assert.deepEqual(await kinds('notes'), ['note', 'note'])
  assert.deepEqual((await kinds('changes')).sort(), ['created', 'fields', 'fields', 'status'])
})

test('deletion and restore are in the timeline, and a deleted lead has none', async () => {
  const { w, member } = await withMember()
  const { id } = await w.lead()
  w.clock.advance(1000)
  await member.call('DELETE', `/leads/${id}`)
  assert.equal((await member.call('GET', `/leads/${id}/timeline`)).status, 404)
  w.clock.advance(1000)
  await member.call('POST', `/leads/${id}/restore`)
  assert.deepEqual((await timeline(member, id)).map(brief), ['restored user ', 'deleted user ', 'created agent '])
})

test('a note sent twice with one idempotency key is added once', async () => {
  const { w, member } = await withMember()
  const { id } = await w.lead()
  const headers = { 'idempotency-key': 'note-1' }
  const add = () => member.call('POST', `/leads/${id}/notes`, { text: 'Call back' }, headers)
  const [first, second] = [await add(), await add()]
  assert.equal(first.status, 201)
  assert.equal(second.body.id, first.body.id)
  assert.deepEqual((await timeline(member, id, '?kind=notes')).map(brief), ['note user Call back'])
  assert.equal((await member.call('POST', '/leads/nobody/notes', { text: 'x' })).status, 404)
})

test('a timeline is read by indexes, whatever the statistics are', async () => {
  const { w, member } = await withMember()
  const id = await busyLead(w, member)
  const tables = [
    ...['lead_status_changes', 'events', 'lead_notes', 'lead_merges', 'form_submissions'],
    ...['messages', 'conversation_notes'],
  ]
  await clearStatistics(w.db, tables)
  const statements = await statementsOf(async () => {
    const { body } = await member.call('GET', `/leads/${id}/timeline?limit=2`)
    await member.call('GET', `/leads/${id}/timeline?limit=2&cursor=${body.nextCursor}`)
  })
  assert.deepEqual(await findBadPlans(w.db, statements, tables), [])
  // Eight sources, and the caller: the cost of a page does not grow with the history.
  assert.ok(statements.length <= 30, `${statements.length} statements for two pages`)
})
