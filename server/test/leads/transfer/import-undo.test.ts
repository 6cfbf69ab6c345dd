import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { runBulkChanges } from '../../../src/leads/bulk/run-bulk-change.ts'
import { runImports } from '../../../src/leads/transfer/import/run-import.ts'
import { auditOf } from '../../support/audit.ts'
import { importWorld } from '../../support/leads/import-world.ts'
import { leadPath } from '../../support/leads/leads.ts'
import { signedInMember } from '../../support/member.ts'
import { pick } from '../../support/pick.ts'

const dayMs = 86_400_000

async function undoWorld() {
  const w = await importWorld()
  const read = async (id: string) => (await w.team('GET', `/lead-imports/${id}`)).body.import
  return {
    ...w,
    read,
    undo: async (id: string) => {
      const answer = await w.team('POST', `/lead-imports/${id}/undo`)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      await runBulkChanges(w, new AbortController().signal)
      return (await read(id)).undo
    },
    ofImport: async (id: string, query = '') =>
      (await w.team('GET', `/leads?importId=${id}&sortOrder=asc${query}`)).body.leads.map(
        ({ firstName }: { firstName: string }) => firstName,
      ),
  }
}

test('leads can be listed by import, whether created, changed or unchanged by it', async () => {
  const w = await undoWorld()
  await w.lead({ firstName: 'Same', externalRef: 's' })
  await w.lead({ firstName: 'Other', externalRef: 'o' })
  await w.lead({ firstName: 'Aside' })
  w.clock.advance(1000)
  const done = await w.importAll('name,externalRef\nSame,s\nChanged,o\nNew,n\n,x\n', { match: 'externalRef' })
  assert.deepEqual([done.created, done.updated, done.unchanged, done.refused], [1, 1, 1, 1])
  assert.deepEqual(await w.ofImport(done.id), ['Same', 'Changed', 'New'])
  assert.deepEqual(await w.ofImport(done.id, '&search=changed'), ['Changed'])
  assert.deepEqual(await w.ofImport(done.id, '&status=won'), [])
  const board = (await w.team('GET', `/leads/board?importId=${done.id}`)).body.columns
  assert.equal(board[0].count, 3)
  assert.equal((await w.call('GET', '/api/v1/leads', { query: { importId: done.id } })).status, 400)
})

test('undoing an import deletes created leads and restores former values, except for leads changed since', async () => {
  const w = await undoWorld()
  const old = await w.lead({
    firstName: 'Old',
    phone: '5581991234567',
    externalRef: 'a',
    status: 'contacted',
    notes: 'x',
  })
  const two = await w.lead({ firstName: 'Two', externalRef: 'b' })
  w.clock.advance(1000)
  const text =
    'name,externalRef,status,phone,notes,city\nNovo,a,won,+55 81 99999-0000,y,Olinda\nDois,b,won,,,\nTres,c,,,,\nQuatro,d,,,,\n'
  const done = await w.importAll(text, { match: 'externalRef' })
  assert.deepEqual([done.created, done.updated], [2, 2])
  assert.deepEqual([done.undo.state, done.undo.leads], ['possible', 4])
  const [, , three] = await w.leads()
  w.clock.advance(1000)
  await w.call('PATCH', leadPath(two.id), { body: { notes: 'Called' } })
  await w.call('PATCH', leadPath(three.id), { body: { status: 'qualified' } })
  w.clock.advance(1000)
  const undo = await w.undo(done.id)
  assert.deepEqual([undo.state, undo.undone, undo.kept, undo.until], ['undone', 2, 2, null])
  const leads = await w.leads()
  assert.deepEqual(pick(leads, 'firstName', 'status'), [
    ['Old', 'contacted'],
    ['Dois', 'won'],
    ['Tres', 'qualified'],
  ])
  const { data } = (await w.call('GET', leadPath(old.id))).body
  assert.deepEqual([data.phone, data.notes, data.customFields ?? []], ['5581991234567', 'x', []])
  const [, , back] = await w.events(old.id)
  assert.deepEqual([back?.name, back?.payload.previousStatus], ['lead.updated', 'won'])
  assert.equal((await w.team('GET', '/leads/trash')).body.total, 1, 'what was made can be restored')
  assert.deepEqual(await auditOf(w, 'leads.undo'), [
    ['leads.undo_started', `import:${done.id}`],
    ['leads.undo_done', `import:${done.id} leads:2 left:2`],
  ])
  assert.equal((await w.team('POST', `/lead-imports/${done.id}/undo`)).status, 409)
})

test('a lead changed by several rows gets its values from before the first row', async () => {
  const w = await undoWorld()
  const rows = Array.from({ length: 600 }, (_, n) => `Filler ${n},f${n},,`)
  await w.lead({ firstName: 'Old', externalRef: 'a', status: 'contacted' })
  w.clock.advance(1000)
  const text = [
    'name,externalRef,status,notes',
    'One,a,won,',
    'One,a,,n',
    ...rows,
    'Two,a,lost,',
    'Twice,f3,won,',
  ].join('\n')
  const done = await w.importAll(text, { match: 'externalRef' })
  assert.deepEqual([done.created, done.refused], [600, 0])
  const undo = await w.undo(done.id)
  assert.deepEqual([undo.undone, undo.kept, undo.leads], [601, 0, 601])
  const leads = await w.leads()
  assert.deepEqual(pick(leads, 'firstName', 'status', 'notes'), [['Old', 'contacted', null]])
})

test('an import whose worker stops is resumed by another at once, and its rows are undone if it is cancelled', async () => {
  const w = await undoWorld()
  const text = `name\n${Array.from({ length: 1200 }, (_, n) => `Lead ${n}`).join('\n')}\n`
  const id = await w.upload(text)
  await w.team('POST', `/lead-imports/${id}/start`, { match: 'none' })
  for (const expected of [500, 1000]) {
    const stopping = new AbortController()
    const stops = runImports(w, stopping.signal)
    stopping.abort()
    await stops
    const { state, created } = await w.read(id)
    assert.deepEqual([state, created], ['running', expected])
  }
  await w.team('POST', `/lead-imports/${id}/cancel`)
  const { state, created, undo } = await w.read(id)
  assert.deepEqual([state, created, undo.state, undo.leads], ['cancelled', 1000, 'possible', 1000])
  await w.undo(id)
  assert.equal((await w.leads()).length, 0)
})

test('a dry run cannot be undone, nor an import by a member or after a day', async () => {
  const w = await undoWorld()
  const text = `name\n${Array.from({ length: 700 }, (_, n) => `Lead ${n}`).join('\n')}\n`
  const id = await w.upload(text)
  await w.team('POST', `/lead-imports/${id}/start`, { match: 'none', dryRun: true })
  await w.work()
  assert.equal((await w.read(id)).undo, null)
  assert.equal((await w.team('POST', `/lead-imports/${id}/undo`)).status, 409)
  await w.team('POST', `/lead-imports/${id}/start`, { match: 'none' })
  assert.equal((await w.team('POST', `/lead-imports/${id}/undo`)).status, 409)
  await w.work()
  assert.equal((await w.team('POST', `/lead-imports/${randomUUID()}/undo`)).status, 404)
  const done = await w.read(id)
  assert.deepEqual([done.state, done.undo.leads], ['done', 700])
  const member = await signedInMember(w)
  assert.equal((await member.call('POST', `/lead-imports/${id}/undo`)).status, 403)
  assert.equal((await member.call('POST', `/lead-bulk-changes/${id}/undo`)).status, 404, 'nor by the other way')
  w.clock.advance(dayMs)
  assert.equal((await w.team('POST', `/lead-imports/${id}/undo`)).status, 409)
  assert.equal((await w.read(id)).undo.state, 'over')
})

test('a name that another lead has since taken is not restored', async () => {
  const w = await undoWorld()
  const { id } = await w.lead({ firstName: 'Old', uniqueCode: 'code-1', externalRef: 'a' })
  w.clock.advance(1000)
  const done = await w.importAll('name,externalRef,code\nOld,a,code-2\n', { match: 'externalRef' })
  assert.equal(done.updated, 1)
  await w.lead({ uniqueCode: 'code-1' })
  const undo = await w.undo(done.id)
  assert.deepEqual([undo.undone, undo.kept], [0, 1])
  assert.equal((await w.call('GET', leadPath(id))).body.data.uniqueCode, 'code-2')
})
