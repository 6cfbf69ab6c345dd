import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { parseListRequest } from '../../../src/leads/search/list-request.ts'
import { exportLeads } from '../../../src/leads/transfer/export/export.ts'
import { statementsOf } from '../../support/database.ts'
import { importWorld } from '../../support/leads/import-world.ts'
import { signedInMember } from '../../support/member.ts'
import { pick } from '../../support/pick.ts'
import { testTeamToken } from '../../support/world.ts'

test('a CSV export imported elsewhere creates the same leads, including formulas and quotes', async () => {
  const [from, to] = [await importWorld(), await importWorld()]
  await from.lead({ firstName: '=cmd|1', lastName: "'=x", notes: 'a "b"\nc;d,e', phone: '+55 81 99123-4567' })
  await from.lead({ firstName: '＝1+1', notes: 'Asked:\n- price; =1+1\n"x",\'-y' })
  await from.lead({ firstName: '+1', externalRef: '@ref', customFieldValues: { k_city: '-São Paulo', vip: 'yes' } })
  const { body, headers } = await from.team('GET', '/leads/export?format=csv')
  assert.equal(headers['x-total-count'], '3')
  assert.ok(body.includes("'=cmd|1") && body.includes("''=x") && body.includes("'+1"))
  const done = await to.importAll(body, { match: 'uniqueCode' })
  assert.deepEqual([done.created, done.refused], [3, 0])
  const plain = (leads: object[]) => leads.map((lead) => ({ ...lead, id: 0, createdAt: 0, updatedAt: 0 }))
  assert.deepEqual(plain(await to.leads()), plain(await from.leads()))
  const [, , third] = await to.leads()
  const { body: read } = await to.call('GET', `/api/v1/leads/${third.id}`)
  assert.equal(read.data.customFieldValues.k_city, '-São Paulo')
  assert.equal(read.data.customFieldValues.vip, 'yes')
})

test('a CSV export starts before the custom field columns are collected', async () => {
  const w = await importWorld()
  await w.lead({ customFieldValues: { city: 'Recife' } })
  const user = { ...w, defaultCountry: null, masked: false, actor: { type: 'token', id: w.workspaceId } } as const
  const { file } = await exportLeads(w, user, parseListRequest({}).filter, 'csv')
  const parts: string[] = []
  const statements = await statementsOf(async () => {
    parts.push((await file.next()).value)
  })
  assert.deepEqual([parts, statements], [['\uFEFF'], []])
  for await (const part of file) parts.push(part)
  assert.match(parts[1] ?? '', /^"id",.*,"updatedAt",.*city","moreCustomFields"\r\n$/)
  assert.match(parts.join(''), /,"Recife",""\r\n$/)
})

test('an export is compressed if accepted, and has the same content', async () => {
  const w = await importWorld()
  const rows = Array.from({ length: 600 }, (_, n) => `Lead ${n},ref-${n}`)
  await w.importAll(`name,externalRef\n${rows.join('\n')}`, { match: 'externalRef' })
  const url = `/api/team/v1/workspaces/${w.workspaceId}/leads/export?format=csv`
  const headers = { authorization: `Bearer ${testTeamToken}` }
  const plain = await w.app.inject({ url, headers })
  for (const [encoding, read] of Object.entries({ gzip: gunzipSync, br: brotliDecompressSync })) {
    const packed = await w.app.inject({ url, headers: { ...headers, 'accept-encoding': encoding } })
    assert.deepEqual([packed.headers['content-encoding'], packed.headers['x-total-count']], [encoding, '600'])
    assert.ok(packed.rawPayload.length < plain.rawPayload.length / 3)
    assert.equal(read(packed.rawPayload).toString(), plain.body)
  }
})

test('an NDJSON export has every matching lead, oldest first over many pages, and ends with their count', async () => {
  const w = await importWorld()
  const rows = Array.from({ length: 1100 }, (_, n) => `Lead ${n},ref-${n},${n % 2 ? 'won' : 'new'}`)
  await w.importAll(`name,externalRef,status\n${rows.join('\n')}`, { match: 'externalRef' })
  const { body } = await w.team('GET', '/leads/export?format=ndjson&status=won')
  const lines = body.trim().split('\n')
  const told = lines.slice(0, -1).map((line: string) => JSON.parse(line).externalRef)
  assert.deepEqual(
    told,
    Array.from({ length: 550 }, (_, n) => `ref-${2 * n + 1}`),
  )
  assert.deepEqual(JSON.parse(lines.at(-1)), { endOfExport: { count: 550 } })
  const again = await w.importAll(body, { match: 'uniqueCode', format: 'ndjson' })
  assert.deepEqual([again.rows, again.unchanged], [550, 550])
})

test('the audit log records start and end of an export, with the number of leads and none of their values', async () => {
  const w = await importWorld()
  const owner = await signedInMember(w, 'owner')
  await w.lead({ firstName: 'Marina' })
  await w.team('GET', '/leads/export')
  const { body } = await owner.call('GET', '/audit')
  const entries = body.entries.filter(({ action }: { action: string }) => action.startsWith('leads.export'))
  assert.deepEqual(pick(entries, 'action'), ['leads.export_done', 'leads.export_started'])
  assert.match(entries[0].target, /^export:\S+ leads:1$/)
})
