import assert from 'node:assert/strict'
import { test } from 'node:test'
import { articleList, maxVersions } from '../../src/knowledge/article.ts'
import { auditOf } from '../support/audit.ts'
import { signedInMember, type TestMember } from '../support/member.ts'
import { world } from '../support/world.ts'

const text = {
  ...{ kind: 'article', language: 'en', title: 'How do I return something?', body: 'Within **30 days**.' },
}

async function knowledgeWorld() {
  const w = await world()
  const [admin, member] = [await signedInMember(w, 'admin'), await signedInMember(w)]
  const create = async (more: object = {}, by: TestMember = admin) => {
    const { status, body } = await by.call('POST', '/knowledge/articles', { ...text, ...more })
    assert.equal(status, 201, JSON.stringify(body))
    return body.article
  }
  const patch = (article: { id: string; version: number }, changes: object, by: TestMember = admin) =>
    by.call('PATCH', `/knowledge/articles/${article.id}`, { version: article.version, ...changes })
  return { ...w, admin, member, create, patch }
}

test('each change of an article is a version, and a change of an older version is refused', async () => {
  const w = await knowledgeWorld()
  const first = await w.create({ tags: [' Refund ', 'refund'] })
  assert.deepEqual([first.version, first.status, first.tags, first.publishedAt], [1, 'draft', ['refund'], null])
  const second = await w.patch(first, { body: 'Within 14 days.' })
  assert.deepEqual([second.status, second.body.article.version], [200, 2])
  const late = await w.patch(first, { body: 'Never.' })
  assert.deepEqual([late.status, late.body.data.version], [409, 2])
  const same = await w.patch(second.body.article, { body: 'Within 14 days.\n' })
  assert.equal(same.body.article.version, 2, 'nothing has changed')
  const { body } = await w.member.call('GET', `/knowledge/articles/${first.id}`)
  assert.deepEqual(
    body.versions.map((one: { version: number }) => one.version),
    [2, 1],
  )
  const old = await w.member.call('GET', `/knowledge/articles/${first.id}/versions/1`)
  assert.equal(old.body.version.body, text.body)
  assert.equal((await w.member.call('GET', `/knowledge/articles/${first.id}/versions/3`)).status, 404)
})

test('of parallel changes of one version, one wins', async () => {
  const w = await knowledgeWorld()
  const article = await w.create()
  const answers = await Promise.all([1, 2, 3, 4].map((n) => w.patch(article, { body: `Within ${n} days.` })))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409])
})

test('members write drafts; only admins publish, archive, delete and change what is published', async () => {
  const w = await knowledgeWorld()
  const refused = await w.member.call('POST', '/knowledge/articles', { ...text, status: 'published' })
  assert.equal(refused.status, 403)
  const draft = await w.create({}, w.member)
  const changed = (await w.patch(draft, { title: 'Returns' }, w.member)).body.article
  for (const changes of [{ status: 'published' }, { status: 'archived' }]) {
    assert.equal((await w.patch(changed, changes, w.member)).status, 403)
  }
  const published = (await w.patch(changed, { status: 'published' })).body.article
  assert.ok(published.publishedAt)
  assert.equal((await w.patch(published, { title: 'Return it' }, w.member)).status, 403)
  assert.equal((await w.patch(published, { status: 'draft' }, w.member)).status, 403)
  const place = `/knowledge/articles/${draft.id}`
  assert.equal((await w.member.call('DELETE', place)).status, 403)
  assert.equal((await w.patch(published, { status: 'archived' })).body.article.status, 'archived')
  assert.equal((await w.admin.call('DELETE', place)).status, 200)
  assert.equal((await w.admin.call('GET', place)).status, 404)
  const item = `knowledge_article:${draft.id}`
  assert.deepEqual(
    await auditOf(w, 'knowledge'),
    ['created', 'changed', 'published', 'archived', 'deleted'].map((what) => [`knowledge_article.${what}`, item]),
  )
})

test('faulty fields are refused by name', async () => {
  const w = await knowledgeWorld()
  const stranger = await world()
  const [from, until] = ['2026-05-01T00:00:00Z', '2026-04-01T00:00:00Z']
  const cases: [changes: object, path: string][] = [
    [{ title: ' ' }, 'title'],
    [{ title: 'x'.repeat(201) }, 'title'],
    [{ body: 'x'.repeat(50_001) }, 'body'],
    [{ language: 'english' }, 'language'],
    [{ kind: 'page' }, 'kind'],
    [{ tags: Array.from({ length: 21 }, (_, n) => `${n}`) }, 'tags'],
    [{ validFrom: from, validUntil: until }, 'validUntil'],
    [{ keyIds: [stranger.keyId] }, 'keyIds[0]'],
    [{ more: 1 }, 'more'],
  ]
  for (const [changes, path] of cases) {
    const { status, body } = await w.admin.call('POST', '/knowledge/articles', { ...text, ...changes })
    assert.deepEqual([status, body.data.issues[0].path], [400, path])
  }
})

test('articles of other workspaces cannot be read or changed', async () => {
  const [w, other] = [await knowledgeWorld(), await knowledgeWorld()]
  const article = await w.create({ status: 'published' })
  assert.equal((await other.admin.call('GET', `/knowledge/articles/${article.id}`)).status, 404)
  assert.equal((await other.admin.call('GET', `/knowledge/articles/${article.id}/versions/1`)).status, 404)
  assert.equal((await other.patch(article, { title: 'Mine' })).status, 404)
  const { body } = await other.admin.call('GET', '/knowledge/search?query=return')
  assert.deepEqual(body.articles, [])
})

test('the list has pages, the last changed first, and filters', async () => {
  const w = await knowledgeWorld()
  const titles = ['One', 'Two', 'Three']
  for (const title of titles) {
    w.clock.advance(1000)
    await w.create({ title, kind: title === 'Two' ? 'answer' : 'article', language: title === 'One' ? 'pt' : 'en' })
  }
  const list = async (query: string) => (await w.member.call('GET', `/knowledge/articles?${query}`)).body
  const names = (articles: { title: string }[]) => articles.map(({ title }) => title)
  const first = await list('limit=2')
  assert.deepEqual(names(first.articles), ['Three', 'Two'])
  const second = await list(`limit=2&cursor=${first.next}`)
  assert.deepEqual([names(second.articles), second.next], [['One'], null])
  assert.deepEqual(names((await list('language=PT')).articles), ['One'])
  assert.deepEqual(names((await list('kind=answer&status=draft')).articles), ['Two'])
  assert.deepEqual(names((await list('status=published')).articles), [])
  assert.equal((await w.member.call('GET', '/knowledge/articles?cursor=abc')).status, 400)
})

test('old versions and the number of articles are limited', async () => {
  const w = await knowledgeWorld()
  let article = await w.create()
  for (let n = 2; n <= maxVersions + 3; n++)
    article = (await w.patch(article, { body: `Within ${n} days.` })).body.article
  const { body } = await w.admin.call('GET', `/knowledge/articles/${article.id}`)
  assert.deepEqual([body.versions.length, body.versions.at(-1).version], [maxVersions, 4])
  await w.db.sql`
    insert into knowledge_articles (
      workspace_id, id, kind, status, language, title, body, tags, source, version, created_at, updated_at, actor_type,
      actor_id, search, title_search
    )
    select ${w.workspaceId}, gen_random_uuid(), 'article', 'draft', 'en', 'x', 'x', '{}', 'app', 1, now(), now(), 'agent',
      ${w.keyId}, '', ''
    from generate_series(2, ${articleList.maxItems})`
  const refused = await w.admin.call('POST', '/knowledge/articles', text)
  assert.deepEqual([refused.status, refused.body.statusMessage], [409, articleList.fullMessage])
})
