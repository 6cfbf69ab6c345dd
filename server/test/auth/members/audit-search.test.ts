import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../../src/base/id.ts'
import { recordAudit } from '../../../src/team/audit.ts'
import { signedInMember } from '../../support/member.ts'
import { type World, world } from '../../support/world.ts'

const hourMs = 3_600_000

type Line = { id: string; action: string }

async function auditWorld() {
  const w = await world()
  const admin = await signedInMember(w, 'admin')
  const start = w.clock.now()
  const at = (hours: number) => new Date(start.getTime() + hours * hourMs).toISOString()
  const tell = async (action: string, actor: { type: 'user' | 'system'; id: string | null }) => {
    w.clock.advance(hourMs)
    const entry = { scopeId: w.workspaceId, actor, action, target: null }
    await w.db.tx((tx) => recordAudit(tx, entry, w.clock.now()))
  }
  const list = async (query: Record<string, string> = {}) => {
    const { status, body } = await admin.call('GET', `/audit?${new URLSearchParams(query)}`)
    assert.equal(status, 200, JSON.stringify(body))
    return body as { entries: Line[]; nextBefore: string | null }
  }
  const actions = async (query: Record<string, string>) => (await list(query)).entries.map(({ action }) => action)
  return { w, admin, at, tell, list, actions }
}

test('the audit log is filtered by actor, action and time, alone and combined', async () => {
  const { admin, at, tell, actions } = await auditWorld()
  const [ana, bea] = [admin.userId, newId(new Date())]
  await tell('label.created', { type: 'user', id: ana })
  await tell('label.deleted', { type: 'user', id: bea })
  await tell('api-key.paused', { type: 'system', id: null })
  await tell('api-key.created', { type: 'user', id: ana })
  const cases: [query: Record<string, string>, found: string[]][] = [
    [{}, ['api-key.created', 'api-key.paused', 'label.deleted', 'label.created']],
    [{ actorId: ana }, ['api-key.created', 'label.created']],
    [{ actorType: 'system' }, ['api-key.paused']],
    [{ thing: 'label' }, ['label.deleted', 'label.created']],
    [{ thing: 'lab' }, []],
    [{ from: at(3) }, ['api-key.created', 'api-key.paused']],
    [{ to: at(2) }, ['label.deleted', 'label.created']],
    [{ from: at(2), to: at(3) }, ['api-key.paused', 'label.deleted']],
    [{ actorId: ana, thing: 'label', to: at(4) }, ['label.created']],
    [{ from: at(5) }, []],
  ]
  for (const [query, found] of cases) assert.deepEqual(await actions(query), found, JSON.stringify(query))
  for (const [field, wrong] of [
    ['thing', 'Label!'],
    ['actorType', 'nobody'],
    ['actorId', 'ana'],
    ['from', 'yesterday'],
  ]) {
    const { status, body } = await admin.call('GET', `/audit?${field}=${wrong}`)
    assert.deepEqual([status, body.data.issues[0].path], [400, field])
  }
})

test('pages of a filter continue to the end, even for rare matches', async () => {
  const { w, tell, list } = await auditWorld()
  await tell('form.created', { type: 'system', id: null })
  await fill(w, 5200, 'label.changed')
  await tell('form.deleted', { type: 'system', id: null })
  const found: string[] = []
  let pages = 0
  for (let before: string | null = null; pages === 0 || before !== null; pages++) {
    const page = await list({ thing: 'form', limit: '1', ...(before !== null && { before }) })
    found.push(...page.entries.map(({ action }) => action))
    before = page.nextBefore
  }
  assert.deepEqual(found, ['form.deleted', 'form.created'])
  assert.ok(pages <= 4, `${pages} pages`)
  assert.deepEqual((await list({ limit: '1' })).entries.length, 1)
})

async function fill(w: World, lines: number, action: string): Promise<void> {
  const ids = Array.from({ length: lines }, () => newId(w.clock.now()))
  await w.db.sql`
    insert into audit_log (scope_id, id, at, actor_type, actor_id, action, target)
    select ${w.workspaceId}, id, ${w.clock.now()}, 'system', null, ${action}, null
    from unnest(${ids}::uuid[]) as id`
}
