import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentsWorld } from '../support/agents/agents-world.ts'
import { mcpClient } from '../support/agents/mcp-client.ts'
import { auditOf } from '../support/audit.ts'
import { signedInMember } from '../support/member.ts'

const returns = { kind: 'article', language: 'en', title: 'How do I return shoes?', body: 'Within **30 days**.' }

async function knowledgeWorld(...settings: Parameters<typeof agentsWorld>) {
  const w = await agentsWorld(...settings)
  const admin = await signedInMember(w, 'admin')
  const publish = async (more: object = {}) => {
    const fields = { ...returns, status: 'published', ...more }
    return (await admin.call('POST', '/knowledge/articles', fields)).body.article
  }
  const timeline = async (id: string) => {
    const { body } = await admin.call('GET', `/inbox/conversations/${id}/timeline`)
    return body.items.flatMap((item: { message?: object }) => item.message ?? [])
  }
  return { ...w, admin, publish, timeline }
}

test('an agent searches, reads in parts, and cites what it used; people see the citation', async () => {
  const w = await knowledgeWorld()
  const long = 'x'.repeat(16_000)
  const article = await w.publish({ body: `${long}the end` })
  const found = await w.callTool('search_knowledge', { query: 'return' })
  assert.deepEqual([found.body.articles[0].id, found.body.articles[0].version], [article.id, 1])
  const read = (offset?: number) =>
    w.callTool('read_article', { article_id: article.id, ...(offset !== undefined && { offset }) })
  const first = (await read()).body.article
  assert.deepEqual([first.text, first.next_offset], [long, 16_000])
  const rest = (await read(first.next_offset)).body.article
  assert.deepEqual([rest.text, rest.next_offset], ['the end', null])

  const { id: conversation_id } = await w.customerWrites('Can I return shoes?')
  const sources = [{ article_id: article.id, version: 1 }]
  const { status, body } = await w.callTool('answer', { conversation_id, text: 'Yes, within 30 days.', sources })
  assert.deepEqual([status, body.status], [200, 'sent'], JSON.stringify(body))
  await w.admin.call('PATCH', `/knowledge/articles/${article.id}`, { version: 1, title: 'Returns' })
  const shown = (await w.timeline(conversation_id)).at(-1)
  assert.deepEqual(shown.sources, [{ id: article.id, version: 1, title: returns.title }])
  const [sent] = w.sent()
  assert.doesNotMatch(JSON.stringify(sent), new RegExp(article.id), 'the customer does not see it')
})

test('an answer can cite only versions that the key can read', async () => {
  const w = await knowledgeWorld()
  const [article, hidden] = [await w.publish(), await w.publish({ keyIds: [] })]
  const { id: conversation_id } = await w.customerWrites('Hi')
  const answer = (sources: object[], key?: string) =>
    w.callTool('answer', { conversation_id, text: 'Hello', sources }, key)
  for (const [article_id, version] of [
    [article.id, 2],
    [hidden.id, 1],
    [conversation_id, 1],
  ]) {
    const { status, body } = await answer([{ article_id, version }])
    assert.deepEqual([status, body.issues[0].path], [400, 'sources[0]'])
  }
  const { value } = await w.addKey({ scopes: ['inbox.read', 'inbox.write'], answersNewConversations: false })
  const refused = await answer([{ article_id: article.id, version: 1 }], value)
  assert.deepEqual([refused.status, refused.body.issues[0].path], [400, 'sources'])
  const many = await answer(Array.from({ length: 6 }, () => ({ article_id: article.id, version: 1 })))
  assert.equal(many.status, 400)
  assert.equal(w.sent().length, 0)
})

test('a draft that a person approves keeps its citation, and shows it before', async () => {
  const approval = { always: true, outsideHours: false, firstAnswers: false, labelIds: [], amountFrom: null }
  const w = await knowledgeWorld({ approval })
  const article = await w.publish()
  const { id: conversation_id } = await w.customerWrites('Can I return shoes?')
  const sources = [{ article_id: article.id, version: 1 }]
  const { body } = await w.callTool('answer', { conversation_id, text: 'Within 30 days.', sources })
  const place = `/inbox/conversations/${conversation_id}`
  const cited = [{ id: article.id, version: 1, title: returns.title }]
  assert.deepEqual((await w.admin.call('GET', `${place}/draft`)).body.draft.sources, cited)
  const sent = await w.admin.call('POST', `${place}/drafts/${body.draft.id}/approve`, { text: 'In 30 days.' })
  assert.equal(sent.status, 202, JSON.stringify(sent.body))
  assert.deepEqual((await w.timeline(conversation_id)).at(-1).sources, cited)
})

test('hidden characters of imported text do not reach a model', async () => {
  const w = await knowledgeWorld()
  const hidden = '\u{e0041}\u{e0042}'
  const { id } = await w.publish({ title: `Return${hidden}`, body: `Within${hidden} 30 days.\u202e` })
  const { body } = await w.callTool('read_article', { article_id: id })
  assert.deepEqual([body.article.title, body.article.text], ['Return', 'Within 30 days.'])
})

test('an article is an MCP resource for keys that can read knowledge', async () => {
  const w = await knowledgeWorld()
  const article = await w.publish()
  const uri = `parley://articles/${article.id}`
  const client = await mcpClient(w, w.agent.value)
  const { resourceTemplates } = await client.listResourceTemplates()
  assert.ok(resourceTemplates.some(({ uriTemplate }) => uriTemplate === 'parley://articles/{id}'))
  assert.match(JSON.stringify(await client.readResource({ uri })), /30 days/)
  const { value } = await w.addKey({ scopes: ['inbox.read'] })
  await assert.rejects((await mcpClient(w, value)).readResource({ uri }), /lacks scope knowledge.read/)
})

test('a program saves articles by its own address, and publishes unless it can read conversations', async () => {
  const w = await knowledgeWorld()
  const program = await w.addKey({ name: 'Help centre', scopes: ['knowledge.write'] })
  const path = '/api/v2/knowledge/articles'
  const { kind: _, ...text } = returns
  const save = async (body: object, key = program.value) => {
    const answer = await w.call('POST', path, { key, body: { ...text, ...body } })
    return { ...answer, body: typeof answer.body === 'string' ? JSON.parse(answer.body) : answer.body }
  }
  const address = { source_address: 'help/returns' }
  const first = await save({ ...address, publish: true, tags: ['refund'] })
  assert.deepEqual([first.status, first.body.action, first.body.article.status], [200, 'created', 'published'])
  assert.equal((await save({ ...address, tags: ['refund'] })).body.action, 'unchanged')
  const changed = (await save({ ...address, body: 'Within 14 days.' })).body
  assert.deepEqual([changed.action, changed.article.version, changed.article.status], ['updated', 2, 'published'])
  assert.match((await w.callTool('search_knowledge', { query: 'return' })).body.articles[0].text, /14 days/)
  const listed = await w.call('GET', path, { key: program.value })
  assert.deepEqual([listed.body.articles.length, listed.body.next_cursor], [1, null])
  const one = `${path}/${changed.article.id}`
  const archived = await w.call('PATCH', one, { key: program.value, body: { version: 2, status: 'archived' } })
  assert.equal(archived.body.article.status, 'archived')

  const agent = await w.addKey({ scopes: ['knowledge.write', 'inbox.read'] })
  assert.equal((await save({ publish: true }, agent.value)).status, 403)
  assert.equal((await save({ ...address, body: 'Send me your password.' }, agent.value)).status, 400)
  const refused = await w.call('PATCH', one, { key: agent.value, body: { version: 2, status: 'published' } })
  assert.equal(refused.status, 403)
  assert.equal((await save({ title: 'A draft' }, agent.value)).body.article.status, 'draft')
  assert.equal((await save({}, w.agent.value)).status, 401, 'reading does not suffice')
  assert.deepEqual(
    (await auditOf(w, 'knowledge_article.')).map(([action]) => action),
    ['published', 'changed', 'archived', 'created'].map((what) => `knowledge_article.${what}`),
  )
})
