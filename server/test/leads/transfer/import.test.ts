import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runImports } from '../../../src/leads/transfer/import/run-import.ts'
import { importWorld } from '../../support/leads/import-world.ts'
import { eventCounts, quotaUsed, storedRows } from '../../support/leads/leads.ts'
import { pick } from '../../support/pick.ts'

test('a CSV file is imported by its headings, with history, events and quota as in an upsert', async () => {
  const w = await importWorld({ defaultCountry: 'BR' })
  await w.lead({ firstName: 'Old', phone: '5581991234567', status: 'new' })
  const done = await w.importAll(
    '\uFEFFNome;Sobrenome;Telefone;E-mail;Status;Cidade;Valor\r\n' +
      'Marina;Duarte;(81) 99123-4567;marina@example.com;won;Recife;1500,50\r\n' +
      '"Ana ""Nina""\nMaria";;+55 81 98888-0001;;;"Olinda; PE";\r\n\r\n' +
      'Ana;;81 8888-0001;;qualified;;2000\r\n',
    { match: 'phone' },
  )
  assert.equal(done.state, 'done')
  assert.deepEqual([done.rows, done.created, done.updated, done.refused], [3, 1, 2, 0])
  const [marina, ana] = await w.leads()
  assert.deepEqual([marina.firstName, marina.status, marina.estimatedValue], ['Marina', 'won', 1500.5])
  assert.deepEqual(
    [ana.firstName, ana.phone, ana.status, ana.estimatedValue],
    ['Ana', '558188880001', 'qualified', 2000],
  )
  const { body } = await w.call('GET', `/api/v1/leads/${ana.id}`)
  assert.deepEqual(body.data.customFieldValues, { k_cidade: 'Olinda; PE', cidade: 'Olinda; PE' })
  assert.deepEqual(await eventCounts(w), { 'lead.created': 2, 'lead.updated': 2 })
  assert.equal(await quotaUsed(w), 2)
})

test('batches are prepared ahead, and each still sees the rows written before', async () => {
  const w = await importWorld()
  await w.lead({ firstName: 'Old', externalRef: 'ref-1400' })
  const repeated = [7, 600, 1200]
  const rows = Array.from({ length: 1500 }, (_, n) => `Lead ${n},ref-${repeated.includes(n) ? 5 : n},new`)
  const done = await w.importAll(`name,externalRef,status\n${rows.join('\n')}\n`, { match: 'externalRef' })
  assert.deepEqual([done.state, done.created, done.updated, done.refused], ['done', 1496, 4, 0])
  const nameOf = async (ref: string) => (await w.call('GET', `/api/v1/leads/${ref}`)).body.data.firstName
  assert.deepEqual([await nameOf('ref-5'), await nameOf('ref-1400')], ['Lead 1200', 'Lead 1400'])
  assert.deepEqual(await eventCounts(w), { 'lead.created': 1497, 'lead.updated': 4 })
  assert.equal(await quotaUsed(w), 1497)
  const again = await w.importAll(`name,externalRef,status\n${rows.join('\n')}\n`, { match: 'externalRef' })
  assert.deepEqual([again.created, again.updated + again.unchanged], [0, 1500])
})

test('rejected rows are listed by row, field and reason, and their file can be corrected and imported', async () => {
  const w = await importWorld()
  const done = await w.importAll(
    'name,phone,email,status,city\nAna,12,ana@,Bad Status,"=1+1"\nBia,+55 81 99123-4567,,,\n,+55 81 99123-4568,,,\nCarla,,,,\nx,+55 81 99123-4569,,,,too many\n',
    { match: 'phone' },
  )
  assert.deepEqual([done.created, done.refused], [1, 4])
  assert.deepEqual(pick(done.refusals.examples, 'row', 'field'), [
    [2, 'status'],
    [4, 'firstName'],
    [5, 'phone'],
    [6, ''],
  ])
  const file = await w.refusedFile(done.id)
  const [header, ana] = file.split('\r\n')
  assert.equal(header, '\uFEFF"name","phone","email","status","city","import_error"')
  assert.match(String(ana), /^"Ana","12","ana@","Bad Status","'=1\+1",/)
  const mended = file.replace('"12","ana@","Bad Status"', '"+55 81 99123-4560","ana@example.com","new"')
  const again = await w.importAll(mended, { match: 'phone' })
  assert.equal(again.created, 1)
  const found = (await w.leads()).find((lead) => lead.firstName === 'Ana')
  const { body } = await w.call('GET', `/api/v1/leads/${found.id}`)
  assert.equal(body.data.customFieldValues.k_city, '=1+1')
})

test('rows refused twice have one reason, and their cells are unchanged', async () => {
  const w = await importWorld()
  const first = await w.importAll('name,phone,notes\n"=Ana","\'+12","\'- likes tea"\n', { match: 'phone' })
  const file = await w.refusedFile(first.id)
  const second = await w.importAll(file, { match: 'phone' })
  assert.equal(await w.refusedFile(second.id), file)
  await w.importAll(file.replace("'+12", "'+55 81 99123-4567"), { match: 'phone' })
  const [{ firstName, phone, id }] = await w.leads()
  const { body } = await w.call('GET', `/api/v1/leads/${id}`)
  assert.deepEqual([firstName, phone, body.data.notes], ['=Ana', '5581991234567', '- likes tea'])
  assert.equal(body.data.customFieldValues, undefined)
})

test('a dry run counts what would happen and writes nothing; then the same file can be imported', async () => {
  const w = await importWorld()
  const rows = Array.from({ length: 1200 }, (_, n) => `Lead ${n},ref-${n % 1100}`)
  const id = await w.upload(`name,externalRef\n${rows.join('\n')}\n,ref-x\n`)
  const before = await storedRows(w)
  const look = await w.team('GET', `/lead-imports/${id}/preview`)
  assert.deepEqual(pick(look.body.columns, 'target'), ['firstName', 'externalRef'])
  await w.team('POST', `/lead-imports/${id}/start`, { match: 'externalRef', dryRun: true })
  await w.work()
  const dry = (await w.team('GET', `/lead-imports/${id}`)).body.import
  assert.deepEqual(await storedRows(w), before)
  assert.deepEqual([dry.state, dry.created, dry.updated, dry.refused], ['checked', 1100, 100, 1])
  await w.team('POST', `/lead-imports/${id}/start`, { match: 'externalRef' })
  await w.work()
  const done = (await w.team('GET', `/lead-imports/${id}`)).body.import
  assert.deepEqual([done.state, done.created, done.updated, done.refused], ['done', 1100, 100, 1])
})

test('a worker delayed since a dry run processes no row of the real run', async () => {
  const w = await importWorld()
  const id = await w.upload('name,externalRef\nAna,a\nBia,b\n')
  await w.team('POST', `/lead-imports/${id}/start`, { match: 'externalRef', dryRun: true })
  // The second transaction is that of the first batch.
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let transactions = 0
  const held: typeof w.db = {
    ...w.db,
    tx: async (work) => {
      if (++transactions === 2) {
        reached.resolve()
        await released.promise
      }
      return w.db.tx(work)
    },
  }
  const working = runImports({ ...w, db: held }, new AbortController().signal)
  await reached.promise
  w.clock.advance(10_000)
  await w.work()
  w.clock.advance(1)
  await w.team('POST', `/lead-imports/${id}/start`, { match: 'externalRef' })
  released.resolve()
  await working
  await w.work()
  const done = (await w.team('GET', `/lead-imports/${id}`)).body.import
  assert.deepEqual([done.state, done.rows, done.created], ['done', 2, 2])
  assert.equal((await w.leads()).length, 2)
})

test('when the daily quota is used up, the import pauses until midnight UTC and resumes with the next row', async () => {
  const w = await importWorld({ dailyLeadQuota: 7 })
  const rows = Array.from({ length: 10 }, (_, n) => `Lead ${n},ref-${n}`)
  const paused = await w.importAll(`name,externalRef\n${rows.join('\n')}`, { match: 'externalRef' })
  assert.deepEqual([paused.state, paused.rows, paused.resumesAt], ['paused', 7, '2026-03-11T00:00:00.000Z'])
  assert.equal(await w.work(), 0)
  w.clock.set(new Date('2026-03-11T00:00:00.000Z'))
  await w.work()
  const done = (await w.team('GET', `/lead-imports/${paused.id}`)).body.import
  assert.deepEqual([done.state, done.created, done.refused], ['done', 10, 0])
  w.clock.set(new Date('2026-03-10T12:00:00.000Z'))
})

test('a dry run ignores the quota and counts all rows', async () => {
  const w = await importWorld({ dailyLeadQuota: 1 })
  await w.lead()
  const checked = await w.importAll('name,externalRef\nAna,a\nBia,b\n', { match: 'externalRef', dryRun: true })
  assert.deepEqual([checked.state, checked.created], ['checked', 2])
})

test('NDJSON is read in the format of the leads interface, and Windows-1252 if chosen', async () => {
  const w = await importWorld()
  const lines = [
    '{"firstName":"Ana","externalRef":"a","customFieldValues":{"vip":true},"id":"x"}',
    '{"firstName":',
    '[]',
    '{"firstName":"\\u0000","externalRef":"b"}',
  ]
  const done = await w.importAll(lines.join('\n'), { match: 'externalRef', format: 'ndjson' })
  assert.deepEqual([done.created, done.refused], [1, 3])
  assert.ok(done.refusals.kinds.every((kind: { message: string }) => kind.message.startsWith('The line ')))
  const file = Buffer.from('name,externalRef\nJo\xe3o \x80,c\n', 'latin1')
  const failed = await w.importAll(file, { match: 'externalRef' }).catch((error) => String(error))
  assert.match(failed, /not UTF-8/)
  const read = await w.importAll(file, { match: 'externalRef', encoding: 'windows-1252' })
  assert.equal(read.created, 1)
  assert.equal((await w.leads()).at(-1).firstName, 'João €')
})

test('a file saved by a spreadsheet as Unicode text can be imported', async () => {
  const w = await importWorld()
  const file = Buffer.from('\uFEFFname\texternalRef\tstatus\r\nJoão 😀\ta\r\nBia\tb\t\t\tx\r\n', 'utf16le')
  const done = await w.importAll(file, { match: 'externalRef' })
  assert.deepEqual([done.created, done.refused, done.choice.encoding], [1, 1, 'utf-16le'])
  assert.equal((await w.leads()).at(-1).firstName, 'João 😀')
  assert.deepEqual(done.refusals.kinds, [{ field: '', message: 'The row has 5 cells, and the header 3', count: 1 }])
})
