import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteExpiredRows } from '../../src/app/erasure.ts'
import { personalDataMask, writeDraft } from '../../src/knowledge/conversation-draft.ts'
import { agentsWorld } from '../support/agents/agents-world.ts'
import { auditOf } from '../support/audit.ts'
import { marina } from '../support/inbox/inbox-world.ts'
import { signedInMember } from '../support/member.ts'

const said = (isCustomer: boolean, text: string) => ({ isCustomer, text })
const of = (...messages: ReturnType<typeof said>[]) => ({
  ...{ conversationId: 'x', isResolved: true, customerName: 'Marina Duarte', messages },
})

test('a draft has the customer in quotes and our answers, under the longest first question', () => {
  const draft = writeDraft(of(said(true, 'Hi'), said(true, 'Can I return shoes?\nThey are new.'), said(false, 'Yes.')))
  assert.deepEqual(draft, {
    title: 'Can I return shoes?',
    body: '> Hi\n> \n> Can I return shoes?\n> They are new.\n\nYes.',
  })
  assert.equal(writeDraft(of(said(true, 'Hi'))), null, 'without an answer there is nothing to know')
  assert.equal(writeDraft(of(said(false, 'Hello'), said(true, ' '))), null)
})

test('phone numbers, e-mail addresses and the name of the customer are removed', () => {
  const mask = personalDataMask('Marina Duarte')
  const cases: [text: string, expected: RegExp, hidden: RegExp][] = [
    ['I am marina, from Recife', /^I am \*\*\*, from Recife$/, /marina/i],
    ['Write to ana.b+x@mail.example.com.', /^Write to \*\*\*\.$/, /@/],
    ['Call +55 81 99123-4567 today', /^Call \+?[*\s-]+.* today$/, /9912/],
    ['It costs 120 and takes 5 days', /^It costs 120 and takes 5 days$/, /\*/],
  ]
  for (const [text, expected, hidden] of cases) {
    assert.match(mask(text), expected)
    assert.doesNotMatch(mask(text), hidden)
  }
  const start = process.cpuUsage()
  for (const text of ['a'.repeat(100_000), 'a@'.repeat(50_000), 'a.'.repeat(50_000), '1'.repeat(100_000)]) mask(text)
  const { user } = process.cpuUsage(start)
  assert.ok(user < 3_000_000, `${user} µs`)
})

async function resolvedWorld() {
  const w = await agentsWorld()
  const [admin, member] = [await signedInMember(w, 'admin'), await signedInMember(w)]
  const { id } = await w.customerWrites('Can I return the zebrine shoes? Call +55 81 99123-4567')
  const make = (by = member) => by.call('POST', '/knowledge/drafts', { conversationId: id })
  const resolve = async () => {
    await w.callTool('answer', { conversation_id: id, text: 'Yes, within 30 days.' })
    await w.callTool('resolve', { conversation_id: id })
  }
  return { ...w, admin, member, id, make, resolve }
}

test('a person makes a draft of a resolved conversation, and an admin publishes what was made of it', async () => {
  const w = await resolvedWorld()
  const early = await w.make()
  assert.deepEqual([early.status, early.body.data.code], [409, 'NOT_RESOLVED'])
  await w.resolve()
  const made = await w.make()
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const { draft } = made.body
  assert.match(draft.body, /zebrine shoes/)
  assert.doesNotMatch(draft.body, /99123/)
  assert.equal((await w.make()).body.draft.id, draft.id, 'a conversation has one draft')

  const [stored] = await w.db.sql<{ content: Buffer }[]>`
    select content from knowledge_drafts where workspace_id = ${w.workspaceId}`
  assert.doesNotMatch(stored?.content.toString('latin1') ?? '', /zebrine/)
  const search = async () => (await w.callTool('search_knowledge', { query: 'zebrine' })).body.articles.length
  assert.equal(await search(), 0)
  assert.equal((await w.admin.call('GET', '/knowledge/search?query=zebrine&all=true')).body.articles.length, 0)

  const place = `/knowledge/drafts/${draft.id}`
  const text = { kind: 'article', language: 'en', title: 'Can I return zebrine shoes?', body: 'Within 30 days.' }
  assert.equal((await w.member.call('POST', `${place}/publish`, text)).status, 403)
  const { status, body } = await w.admin.call('POST', `${place}/publish`, text)
  assert.deepEqual([status, body.article?.status, body.article?.source], [201, 'published', 'conversation'])
  assert.equal(await search(), 1)
  assert.equal((await w.admin.call('POST', `${place}/publish`, text)).status, 404)
  assert.deepEqual((await w.admin.call('GET', '/knowledge/drafts')).body.drafts, [])
  assert.deepEqual(
    (await auditOf(w, 'knowledge_draft.')).map(([action]) => action),
    ['knowledge_draft.created', 'knowledge_draft.published'],
  )
})

test('a draft is erased with its customer, and what was published of it stays', async () => {
  const w = await resolvedWorld()
  await w.resolve()
  await w.make()
  const text = { kind: 'answer', language: 'en', title: 'Returns', body: 'Within 30 days.', status: 'published' }
  await w.admin.call('POST', '/knowledge/articles', text)
  w.clock.advance(1000)
  const { status, body } = await w.admin.call('POST', '/erasures', { phone: marina.phone })
  assert.equal(status, 201, JSON.stringify(body))
  assert.equal(body.erasure.removed.knowledgeDrafts, 1)
  assert.deepEqual((await w.admin.call('GET', '/knowledge/drafts')).body.drafts, [])
  assert.equal((await w.admin.call('GET', '/knowledge/articles')).body.articles.length, 1)
})

test('a draft is discarded by hand, or after 90 days', async () => {
  const w = await resolvedWorld()
  await w.resolve()
  const first = (await w.make()).body.draft
  assert.equal((await w.member.call('DELETE', `/knowledge/drafts/${first.id}`)).status, 200)
  const second = (await w.make()).body.draft
  assert.notEqual(second.id, first.id)
  w.clock.advance(91 * 86_400_000)
  await deleteExpiredRows(w)
  const later = await signedInMember(w)
  assert.equal((await later.call('GET', `/knowledge/drafts/${second.id}`)).status, 404)
})
