import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteExpiredImportFiles } from '../../../src/leads/retention.ts'
import { appendUpload } from '../../../src/leads/transfer/import/file-pieces.ts'
import { type ImportWorld, importWorld } from '../../support/leads/import-world.ts'
import { testTeamToken } from '../../support/world.ts'

async function made(w: ImportWorld, size: number): Promise<string> {
  return (await w.team('POST', '/lead-imports', { fileName: 'a.csv', size })).body.import.id
}

const put = (w: ImportWorld, id: string, offset: number, text: string) =>
  w.call('PUT', `/api/team/v1/workspaces/${w.workspaceId}/lead-imports/${id}/content?offset=${offset}`, {
    key: testTeamToken,
    raw: text,
    headers: { 'content-type': 'text/csv' },
  })

test('an upload resumes where it was interrupted, and a wrong offset is rejected with the right one', async () => {
  const w = await importWorld()
  const id = await made(w, 20)
  assert.equal((await put(w, id, 0, 'name\nAna')).status, 200)
  const early = await w.team('POST', `/lead-imports/${id}/start`, { match: 'none' })
  assert.deepEqual(
    [early.status, early.body.statusMessage],
    [409, 'The upload is not complete: 8 of 20 bytes were uploaded'],
  )
  const wrong = await put(w, id, 5, 'x')
  assert.deepEqual([wrong.status, wrong.body.data], [409, { uploadedBytes: 8 }])
  assert.equal((await put(w, id, 8, 'x'.repeat(13))).status, 409)
  const done = await put(w, id, 8, ' Lima\nBia\n__')
  assert.deepEqual([done.body.import.state, done.body.import.uploadedBytes], ['ready', 20])
  assert.equal((await put(w, id, 20, 'x')).status, 409)
  await w.team('POST', `/lead-imports/${id}/start`, { match: 'none' })
  await w.work()
  assert.deepEqual((await w.leads()).map((lead) => lead.firstName).sort(), ['Ana Lima', 'Bia', '__'])
})

test('an upload without a body is rejected with the reason; an empty body checks the offset', async () => {
  const w = await importWorld()
  const id = await made(w, 20)
  const path = `/api/team/v1/workspaces/${w.workspaceId}/lead-imports/${id}/content?offset=0`
  const none = await w.call('PUT', path, { key: testTeamToken })
  assert.deepEqual([none.status, none.body.data.issues[0].path], [400, ''])
  assert.match(none.body.data.issues[0].message, /must have a body/)
  assert.deepEqual([(await put(w, id, 0, '')).status, (await put(w, id, 1, '')).status], [200, 409])
})

test('an upload is read no faster than it is stored: less than two pieces are buffered', async () => {
  const w = await importWorld()
  const [chunk, chunks] = [64 * 1024, 240]
  const id = await made(w, chunk * chunks)
  let ahead = 0
  const stored = async () => (await w.team('GET', `/lead-imports/${id}`)).body.import.uploadedBytes
  async function* body() {
    for (let n = 0; n < chunks; n++) {
      if (n % 50 === 0) ahead = Math.max(ahead, n * chunk - (await stored()))
      yield Buffer.alloc(chunk, 'a')
    }
  }
  await appendUpload(w, w.workspaceId, id, 0, body())
  assert.equal(await stored(), chunk * chunks)
  assert.ok(ahead < 2 * 256 * 1024, `${ahead} bytes ahead`)
})

test('a cancelled import writes nothing more, and its file is deleted at once', async () => {
  const w = await importWorld()
  const id = await w.upload('name\nAna\n')
  await w.team('POST', `/lead-imports/${id}/start`, { match: 'none' })
  const pieces = () => w.db.sql`select 1 from lead_import_pieces where import_id = ${id}`
  assert.equal((await pieces()).length, 1)
  const cancelled = await w.team('POST', `/lead-imports/${id}/cancel`)
  assert.equal(cancelled.body.import.state, 'cancelled')
  assert.equal((await w.team('POST', `/lead-imports/${id}/cancel`)).status, 409)
  await w.work()
  assert.equal((await w.leads()).length, 0)
  assert.equal((await pieces()).length, 0)
  const look = await w.team('GET', `/lead-imports/${id}/preview`)
  assert.deepEqual([look.status, look.body.statusMessage], [422, 'The file is removed: the import is cancelled'])
})

test('abandoned files and rejected rows are deleted after seven days', async () => {
  const w = await importWorld()
  for (let n = 0; n < 9; n++) await w.upload('name\nAna\n')
  for (let n = 0; n < 15; n++) await w.importAll('name,phone\nAna,12\n', { match: 'phone' })
  const pieces = () => w.db.sql`select 1 from lead_import_pieces where workspace_id = ${w.workspaceId}`
  assert.equal((await pieces()).length, 24)
  w.clock.advance(7 * 86_400_000)
  await deleteExpiredImportFiles(w.db, w.clock)
  assert.equal((await pieces()).length, 0)
  w.clock.advance(-7 * 86_400_000)
})

test('a workspace has at most ten open imports, also under concurrency', async () => {
  const w = await importWorld()
  const make = () => w.team('POST', '/lead-imports', { fileName: 'a.csv', size: 1024 ** 3 })
  const answers = await Promise.all(Array.from({ length: 14 }, make))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(10).fill(201), ...Array(4).fill(409)])
  const refused = await make()
  assert.match(refused.body.statusMessage, /^10 imports are open; finish or cancel one/)
  const open = answers.find(({ status }) => status === 201)?.body.import.id
  await w.team('POST', `/lead-imports/${open}/cancel`)
  assert.equal((await make()).status, 201)
  assert.equal((await (await importWorld()).team('POST', '/lead-imports', { fileName: 'a.csv', size: 1 })).status, 201)
})

test('stored import files count towards the limit until they end, whatever size was declared', async () => {
  const w = await importWorld()
  const [full, next] = [await made(w, 1024 ** 3), await made(w, 20)]
  await w.db.sql`
    update lead_imports
    set uploaded = ${2 * 1024 ** 3 - 8}
    where workspace_id = ${w.workspaceId}
      and id = ${full}`
  assert.equal((await put(w, next, 0, 'name\nAna')).status, 200)
  const refused = await put(w, next, 8, ' Lima')
  assert.deepEqual([refused.status, refused.body.data], [409, { storedBytes: 2 * 1024 ** 3 }])
  assert.match(refused.body.statusMessage, /use all 2 GiB; cancel an import/)
  await w.team('POST', `/lead-imports/${full}/cancel`)
  assert.equal((await put(w, next, 8, ' Lima')).status, 200)
})

const growths: [what: string, column: string, value: number, dryRun: boolean, problem: RegExp][] = [
  ['rejected rows', 'refused_bytes', 256 * 1024 ** 2 - 10, false, /^The rejected rows would exceed 256 MiB/],
  ['new leads of a dry run', 'created', 5_000_000, true, /^A dry run is limited to 5,000,000 new leads/],
]

for (const [what, column, value, dryRun, problem] of growths) {
  test(`an import fails if it would store too many ${what}`, async () => {
    const w = await importWorld()
    const id = await w.upload('name,phone\nAna,12\n')
    await w.team('POST', `/lead-imports/${id}/start`, { match: 'phone', dryRun })
    await w.db.sql`update lead_imports set ${w.db.sql.set({ [column]: value })} where id = ${id}`
    await w.work()
    const { body } = await w.team('GET', `/lead-imports/${id}`)
    assert.equal(body.import.state, 'failed')
    assert.match(body.import.problem, problem)
  })
}

test('stored files and rejected rows are encrypted', async () => {
  const w = await importWorld()
  const id = await w.upload('name,phone\nSecretname,12\n')
  await w.team('POST', `/lead-imports/${id}/start`, { match: 'phone', dryRun: true })
  await w.work()
  assert.equal((await w.team('GET', `/lead-imports/${id}`)).body.import.refused, 1)
  const rows = await w.db.sql<{ bytes: Buffer }[]>`select bytes from lead_import_pieces where import_id = ${id}`
  assert.equal(rows.length, 2)
  for (const { bytes } of rows) assert.ok(!bytes.includes('Secretname'))
})

test('an invalid mapping is rejected with the reason', async () => {
  const w = await importWorld()
  const id = await w.upload('name,phone,x\nAna,5581991234567,1\n')
  const start = async (wish: object) => (await w.team('POST', `/lead-imports/${id}/start`, wish)).body.data?.issues[0]
  assert.equal((await start({ match: 'externalRef' })).path, 'match')
  assert.equal((await start({ match: 'phone', mapping: { nope: 'phone' } })).path, 'mapping.nope')
  assert.equal((await start({ match: 'phone', mapping: { x: 'Bad' } })).path, 'mapping.x')
  assert.equal((await start({ match: 'phone', mapping: { x: 'notes', name: 'notes' } })).path, 'mapping')
})

test('a column may have any name', async () => {
  const w = await importWorld()
  const done = await w.importAll('name,constructor\nAna,Lego\n', { match: 'none' })
  assert.equal(done.choice.columns[1].target, 'k_constructor')
})
