import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findInForce, listVersions, maxVersions } from '../../../src/workspaces/instructions/versions.ts'
import { agentsWorld } from '../../support/agents/agents-world.ts'
import { auditOf } from '../../support/audit.ts'
import { startNode } from '../../support/events/feed-world.ts'
import { signedInMember } from '../../support/member.ts'
import { pick } from '../../support/pick.ts'
import { waitForNotifications } from '../../support/wait-for-notifications.ts'
import { type Answer, callerOf } from '../../support/world.ts'

type World = Awaited<ReturnType<typeof agentsWorld>>
type Admin = Awaited<ReturnType<typeof signedInMember>>

interface Scope {
  keyId?: string
  connectionId?: string
}

const path = '/instructions'

async function instructionsWorld() {
  const w = await agentsWorld()
  const admin = await signedInMember(w, 'admin')
  return { w, admin }
}

const save = (admin: Admin, text: string | null, more: Scope & { basedOn?: number; revision?: number | null } = {}) =>
  admin.call('PUT', `${path}/draft`, {
    keyId: null,
    connectionId: null,
    text,
    note: null,
    basedOn: 0,
    revision: null,
    ...more,
  })

async function publish(admin: Admin, text: string | null, basedOn = 0, scope: Scope = {}): Promise<Answer['body']> {
  const saved = await save(admin, text, { basedOn, ...scope })
  assert.equal(saved.status, 200, JSON.stringify(saved.body))
  const { id, revision } = saved.body.draft
  const answer = await admin.call('POST', `${path}/versions/${id}/publish`, { revision, basedOn })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body.version
}

const list = async (admin: Admin, { keyId, connectionId }: Scope = {}) => {
  const query = new URLSearchParams({ ...(keyId && { keyId }), ...(connectionId && { connectionId }) })
  return (await admin.call('GET', `${path}/versions?${query}`)).body
}

const told = async (w: World, key = w.agent.value) => {
  await waitForNotifications(w.db)
  return (await w.callTool('who_am_i', {}, key)).body.instructions
}

const codeOf = ({ status, body }: Answer) => (status === 200 ? status : `${status} ${body.data?.code}`)

test('an agent receives the published texts for all, for itself and for its connections, and no draft', async () => {
  const { w, admin } = await instructionsWorld()
  const other = await w.addConnection()
  const narrow = await w.addKey({ scopes: ['inbox.read'], connectionIds: [other] })
  assert.deepEqual(await told(w), { version: 0, workspace: null, key: null, connections: [] })
  await publish(admin, 'Be brief.')
  await publish(admin, 'Answer orders only.', 0, { keyId: w.agent.id })
  await publish(admin, 'Speak Spanish.', 0, { connectionId: other })
  await save(admin, 'Be verbose.', { basedOn: 1 })

  const spanish = { connection_id: other, version: 1, text: 'Speak Spanish.' }
  assert.deepEqual(await told(w), {
    version: 3,
    workspace: { version: 1, text: 'Be brief.' },
    key: { version: 1, text: 'Answer orders only.' },
    connections: [spanish],
  })
  const { key, connections, version } = await told(w, narrow.value)
  assert.deepEqual([key, connections, version], [null, [spanish], 2], 'another key’s text is not told, and not counted')
  const { scopes } = (await admin.call('GET', path)).body
  assert.deepEqual(pick(scopes, 'version').sort(), [1, 1, 1])
  assert.deepEqual(
    scopes.filter(({ hasDraft }: { hasDraft: boolean }) => hasDraft).map(({ keyId }: Scope) => keyId),
    [null],
  )
})

test('versions count up in each scope, a text can be removed, and each has its author, note and time', async () => {
  const { w, admin } = await instructionsWorld()
  const keyId = w.agent.id
  await publish(admin, 'One.')
  await publish(admin, 'For the key.', 0, { keyId })
  w.clock.advance(60_000)
  const saved = await save(admin, null, { basedOn: 1 })
  const { id } = saved.body.draft
  const noted = await admin.call('PUT', `${path}/draft`, {
    ...scopeless,
    ...{ text: null, note: 'Closed', revision: 1, basedOn: 1 },
  })
  assert.equal(noted.body.draft.id, id)
  const answer = await admin.call('POST', `${path}/versions/${id}/publish`, { revision: 2, basedOn: 1 })
  assert.equal(answer.body.version.id, id, 'a draft keeps its id')
  const { draft, versions } = await list(admin)
  assert.equal(draft, null)
  const [newest] = versions
  assert.deepEqual(
    [pick(versions, 'version'), newest.text, newest.note, newest.actor, newest.publishedAt],
    [[2, 1], null, 'Closed', { type: 'user', id: admin.userId }, w.clock.now().toISOString()],
  )
  assert.deepEqual([(await told(w)).workspace, (await told(w)).key.version], [null, 1])
  const { agentWord } = (await admin.call('GET', '')).body.workspace
  assert.equal(agentWord, null)
  const audited = await auditOf(w, 'instructions.')
  const target = `workspace:${w.workspaceId}`
  assert.deepEqual(
    audited.filter(([action]) => action === 'instructions.published'),
    [target, `api-key:${keyId}`, target].map((one) => ['instructions.published', one]),
  )
})

const scopeless = { keyId: null, connectionId: null }

test('the setting of the workspace publishes a version, and a version changes the setting', async () => {
  const { w, admin } = await instructionsWorld()
  await publish(admin, 'One.')
  assert.equal((await admin.call('GET', '')).body.workspace.agentWord, 'One.')
  await admin.call('PATCH', '', { agentWord: 'Two.' })
  await admin.call('PATCH', '', { agentWord: 'Two.' })
  const { versions } = await list(admin)
  assert.deepEqual(pick(versions, 'text'), ['Two.', 'One.'])
  const { word } = (await w.callTool('who_am_i')).body.workspace
  assert.deepEqual([word, (await told(w)).workspace], ['Two.', { version: 2, text: 'Two.' }])
})

test('a text that a process without versions wrote is returned at once, and recorded by the next change', async () => {
  const { w, admin } = await instructionsWorld()
  await publish(admin, 'One.')
  await w.db.sql`update workspaces set agent_word = 'Old process.' where id = ${w.workspaceId}`
  assert.deepEqual((await told(w)).workspace, { version: 1, text: 'Old process.' })
  const stale = await save(admin, 'Two.', { basedOn: 1 })
  assert.equal(codeOf(stale), '409 VERSION_PUBLISHED')
  assert.deepEqual(pick((await list(admin)).versions, 'text'), ['Old process.', 'One.'])
  await admin.call('PATCH', '', { agentWord: 'Three.' })
  const { versions } = await list(admin)
  assert.deepEqual(
    versions.map(({ text, actor }: { text: string; actor: object | null }) => [text, actor === null]),
    [
      ['Three.', false],
      ['Old process.', true],
      ['One.', false],
    ],
  )
})

test('two admins who edit at once do not overwrite each other', async () => {
  const { admin: ana, w } = await instructionsWorld()
  const bo = await signedInMember(w, 'admin')
  const { id } = (await save(ana, 'Ana 1.')).body.draft
  const cases: [what: string, run: () => Promise<Answer>, expected: unknown][] = [
    ['a second first draft', () => save(bo, 'Bo 1.'), '409 DRAFT_CHANGED'],
    ['an edit of what was read', () => save(bo, 'Bo 2.', { revision: 1 }), 200],
    ['an edit of what was changed meanwhile', () => save(ana, 'Ana 2.', { revision: 1 }), '409 DRAFT_CHANGED'],
    [
      'publishing what was changed meanwhile',
      () => ana.call('POST', `${path}/versions/${id}/publish`, { revision: 1, basedOn: 0 }),
      '409 DRAFT_CHANGED',
    ],
    [
      'discarding what was changed meanwhile',
      () => ana.call('DELETE', `${path}/versions/${id}?revision=1`),
      '409 DRAFT_CHANGED',
    ],
    ['a setting meanwhile', () => ana.call('PATCH', '', { agentWord: 'Ana 3.' }), 200],
    [
      'publishing over a version that was not seen',
      () => bo.call('POST', `${path}/versions/${id}/publish`, { revision: 2, basedOn: 0 }),
      '409 VERSION_PUBLISHED',
    ],
    [
      'publishing over a version that was seen',
      () => bo.call('POST', `${path}/versions/${id}/publish`, { revision: 2, basedOn: 1 }),
      200,
    ],
    [
      'publishing twice',
      () => bo.call('POST', `${path}/versions/${id}/publish`, { revision: 2, basedOn: 2 }),
      '409 DRAFT_CHANGED',
    ],
    ['editing a published draft', () => save(ana, 'Ana 4.', { revision: 2, basedOn: 2 }), '409 DRAFT_CHANGED'],
  ]
  for (const [what, run, expected] of cases) assert.equal(codeOf(await run()), expected, what)
  assert.deepEqual(pick((await list(ana)).versions, 'text'), ['Bo 2.', 'Ana 3.'])
  const both = await Promise.all([save(ana, 'A', { basedOn: 2 }), save(bo, 'B', { basedOn: 2 })])
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409])
})

test('an earlier version is restored as a new one, and only what differs is published', async () => {
  const { w, admin } = await instructionsWorld()
  await publish(admin, 'One.')
  await publish(admin, 'Two.', 1)
  const { id: draftId } = (await save(admin, 'Draft.', { basedOn: 2 })).body.draft
  const { versions } = await list(admin)
  const restore = (id: string, basedOn: number) => admin.call('POST', `${path}/versions/${id}/restore`, { basedOn })
  assert.equal(codeOf(await restore(versions[1].id, 1)), '409 VERSION_PUBLISHED')
  assert.equal(codeOf(await restore(versions[0].id, 2)), '409 SAME_TEXT')
  assert.equal((await restore(draftId, 2)).status, 404)
  const { version } = (await restore(versions[1].id, 2)).body
  assert.deepEqual([version.version, version.text, version.restores], [3, 'One.', 1])
  const after = await list(admin)
  assert.deepEqual([pick(after.versions, 'version'), after.draft.id], [[3, 2, 1], draftId])
  assert.equal((await told(w)).workspace.text, 'One.')
  const same = (await save(admin, 'One.', { basedOn: 3, revision: 1 })).body.draft
  const again = await admin.call('POST', `${path}/versions/${same.id}/publish`, { revision: 2, basedOn: 3 })
  assert.equal(codeOf(again), '409 SAME_TEXT')
  assert.equal((await admin.call('DELETE', `${path}/versions/${same.id}?revision=2`)).status, 200)
  assert.equal((await list(admin)).draft, null)
  assert.equal((await admin.call('DELETE', `${path}/versions/${version.id}?revision=1`)).status, 409)
})

test('invalid drafts are refused, naming the field', async () => {
  const { w, admin } = await instructionsWorld()
  const foreign = await agentsWorld()
  const cases: [field: string, body: object][] = [
    ['text', { text: 'a'.repeat(4001) }],
    ['text', { text: '  ' }],
    ['note', { note: 'a'.repeat(201) }],
    ['keyId', { keyId: foreign.agent.id }],
    ['connectionId', { connectionId: foreign.connectionId }],
    ['connectionId', { keyId: w.agent.id, connectionId: w.connectionId }],
    ['basedOn', { basedOn: -1 }],
    ['colour', { colour: 'red' }],
  ]
  for (const [field, body] of cases) {
    const { status, body: answer } = await save(admin, 'Fine.', body)
    assert.deepEqual([status, answer.data.issues[0].path], [400, field], JSON.stringify(body))
  }
  const member = await signedInMember(w)
  assert.equal((await save(member, 'Mine.')).status, 403)
  assert.equal((await member.call('GET', `${path}/versions`)).status, 200)
})

test('the newest versions are kept, and those at a time are found', async () => {
  const { w, admin } = await instructionsWorld()
  const start = w.clock.now()
  for (let n = 0; n < 3; n++) {
    w.clock.advance(60_000)
    await publish(admin, `Text ${n + 1}.`, n)
  }
  const at = (minutes: number) => new Date(start.getTime() + minutes * 60_000)
  const scope = { keyId: w.agent.id, connectionIds: [w.connectionId] }
  const numberAt = async (minutes: number) =>
    (await findInForce(w.db.sql, w.workspaceId, scope, at(minutes))).workspace?.version ?? null
  assert.deepEqual(await Promise.all([0.5, 1, 1.5, 2, 9].map(numberAt)), [null, 1, 1, 2, 3])

  await w.db.sql`
    update instruction_versions
    set version = version + ${maxVersions - 2}
    where workspace_id = ${w.workspaceId}
      and version > 1`
  await publish(admin, 'Newest.', maxVersions + 1)
  const { versions } = await listVersions(w.db.sql, w.workspaceId, scopeless)
  assert.deepEqual(
    versions.map(({ version }) => version),
    [maxVersions + 2, maxVersions + 1, maxVersions],
    'the first is one of too many',
  )
})

test('wait_for_work tells an agent of a publication on another node with its next call', async () => {
  const { w, admin } = await instructionsWorld()
  const node = await startNode(w)
  const call = callerOf(node.app, w.agent.value)
  const wait = async (cursor?: string) =>
    (await call('GET', '/api/v2/work', { query: { wait: '0', ...(cursor && { cursor }) } })).body
  const first = await wait()
  assert.deepEqual([first.instructions_version, isTold(first)], [0, false])
  await publish(admin, 'Be brief.')
  await waitForNotifications(w.db)
  const second = await wait(first.next_cursor)
  assert.deepEqual([second.instructions_version, isTold(second)], [1, true])
  const { instructions } = (await call('GET', '/api/v2/me')).body
  assert.deepEqual([instructions.version, instructions.workspace.text], [1, 'Be brief.'])
  assert.ok(isTold(await wait(first.next_cursor)), 'an answer that was lost tells it again')
  const third = await wait(second.next_cursor)
  assert.deepEqual([third.instructions_version, isTold(third)], [1, false])
  assert.equal(isTold(await wait()), false, 'an agent that has just started reads them anyway')

  await publish(admin, 'For one.', 0, { keyId: w.agent.id })
  await w.customerWrites('Hello')
  const last = await wait(third.next_cursor)
  assert.deepEqual([last.work.length, isTold(last)], [1, true])
  assert.match(last.next.at(-1), /next_cursor/)
})

const isTold = ({ next }: { next: string[] }) => next.some((step) => step.includes('new instructions'))

test('a preview is what the agent would receive once the draft is published', async () => {
  const { w, admin } = await instructionsWorld()
  await publish(admin, 'Be brief.')
  await publish(admin, 'For the connection.', 0, { connectionId: w.connectionId })
  const preview = async (draftId?: string, keyId = w.agent.id) =>
    admin.call('GET', `/keys/${keyId}/preview${draftId === undefined ? '' : `?draftId=${draftId}`}`)
  await waitForNotifications(w.db)
  const now = (await preview()).body
  assert.deepEqual(now.whoAmI, (await w.callTool('who_am_i')).body)
  assert.ok(now.tools.some(({ name }: { name: string }) => name === 'answer'))

  const drafts: [scope: Scope, basedOn: number][] = [
    [{}, 1],
    [{ keyId: w.agent.id }, 0],
    [{ connectionId: w.connectionId }, 1],
  ]
  for (const [scope, basedOn] of drafts) {
    const { id, revision } = (await save(admin, 'A draft.', { basedOn, ...scope })).body.draft
    const before = (await preview(id)).body.whoAmI
    await admin.call('POST', `${path}/versions/${id}/publish`, { revision, basedOn })
    assert.deepEqual(before.instructions, await told(w), JSON.stringify(scope))
    assert.equal(before.workspace.word, (await w.callTool('who_am_i')).body.workspace.word)
    assert.equal((await preview(id)).status, 404, 'it is no draft any more')
  }
  const { body } = await save(admin, 'For another.', { keyId: (await w.addKey({ scopes: ['inbox.read'] })).id })
  assert.deepEqual((await preview(body.draft.id)).body.whoAmI.instructions.key.text, 'A draft.')
  const foreign = await agentsWorld()
  assert.equal((await preview(undefined, foreign.agent.id)).status, 404)
  const member = await signedInMember(w)
  assert.equal((await member.call('GET', `/keys/${w.agent.id}/preview`)).status, 403)
})
