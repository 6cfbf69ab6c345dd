import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leadPath, storedRows } from '../../support/leads/leads.ts'
import { exchange, listen } from '../../support/wire/raw-http.ts'
import { world } from '../../support/world.ts'

test('id, uniqueCode, externalRef and phone each identify the lead, on GET, PATCH and DELETE', async () => {
  const { lead, call } = await world()
  for (const by of ['id', 'uniqueCode', 'externalRef', 'phone']) {
    const one = await lead({ uniqueCode: 'C-1', externalRef: 'ref/1', phone: '5581991234567' })
    const read = await call('GET', leadPath(one[by]))
    assert.equal(read.status, 200, by)
    assert.deepEqual(read.body, { success: true, data: one })
    const changed = await call('PATCH', leadPath(one[by]), { body: { notes: by } })
    assert.equal(changed.body.data.notes, by)
    const removed = await call('DELETE', leadPath(one[by]))
    assert.deepEqual(removed.body, { success: true, message: 'Lead deleted successfully' })
    assert.equal((await call('GET', leadPath(one[by]))).status, 404, by)
  }
})

test('a phone matches the common variants of the same number only; national numbers use the default country', async () => {
  const { lead, call } = await world({ defaultCountry: 'BR' })
  const rows: [stored: string, spellings: string[]][] = [
    ['5581991234567', ['+55 81 99123-4567', '+55 (81) 9123-4567', '558191234567', '81991234567', '081 99123-4567']],
    ['551133334444', ['+55 (11) 3333-4444', '(11) 3333-4444']],
    ['5215512345678', ['525512345678', '+52 55 1234 5678', '+52 1 55 1234 5678']],
    ['442079460018', ['+44 (0)20 7946 0018', '00442079460018']],
  ]
  for (const [phone, spellings] of rows) {
    const { id } = await lead({ phone: `+${phone}` })
    for (const spelling of [phone, ...spellings]) {
      const { status, body } = await call('GET', leadPath(spelling))
      assert.deepEqual([status, body.data?.id, body.data?.phone], [200, id, phone], spelling)
    }
  }
  for (const other of ['5511933334444', '5581991234568', '5215512345679']) {
    assert.equal((await call('GET', leadPath(other))).status, 404, other)
  }
})

test('identifiers are tried in the order id, uniqueCode, externalRef, phone', async () => {
  const { lead, call } = await world()
  const phone = '5581991234567'
  const byPhone = await lead({ phone })
  assert.equal((await call('GET', leadPath(phone))).body.data.id, byPhone.id)
  const byRef = await lead({ externalRef: phone })
  assert.equal((await call('GET', leadPath(phone))).body.data.id, byRef.id)
  const byCode = await lead({ uniqueCode: phone })
  assert.equal((await call('GET', leadPath(phone))).body.data.id, byCode.id)
  await lead({ uniqueCode: byPhone.id })
  assert.equal((await call('GET', leadPath(byPhone.id))).body.data.id, byPhone.id)
})

test('text of UUID shape that is no id may still be an externalRef', async () => {
  const { lead, call } = await world()
  const externalRef = '0f8fad5b-d9cb-469f-a165-70867728950e'
  const { id } = await lead({ externalRef })
  assert.equal((await call('GET', leadPath(externalRef))).body.data.id, id)
})

test('of several live leads with one phone the oldest is returned', async () => {
  const { lead, call, clock } = await world()
  const first = await lead({ phone: '5581991234567' })
  const second = await lead({ phone: '558191234567' })
  clock.advance(1000)
  await lead({ phone: '5581991234567' })
  assert.equal((await call('GET', leadPath('558191234567'))).body.data.id, first.id)
  await call('DELETE', leadPath(first.id))
  assert.equal((await call('GET', leadPath('5581991234567'))).body.data.id, second.id)
})

test('a phone from a response identifies its lead, whatever the default country makes of its digits', async () => {
  const { lead, call } = await world({ defaultCountry: 'BR' })
  const berlin = await lead({ phone: '+49 30 123456' })
  assert.equal(berlin.phone, '4930123456')
  assert.equal((await call('GET', leadPath('4930123456'))).body.data?.id, berlin.id)
  const chapeco = await lead({ phone: '(49) 3012-3456' })
  assert.equal(chapeco.phone, '554930123456')
  assert.equal((await call('GET', leadPath('4930123456'))).body.data.id, berlin.id)
  assert.equal((await call('GET', leadPath('(49) 3012-3456'))).body.data.id, chapeco.id)
  await call('DELETE', leadPath(berlin.id))
  assert.equal((await call('GET', leadPath('4930123456'))).body.data.id, chapeco.id)
})

test('uniqueCode and externalRef are case-sensitive', async () => {
  const { lead, call } = await world()
  await lead({ uniqueCode: 'Code', externalRef: 'Réf' })
  for (const near of ['code', 'Code ', ' Code', 'Ref', 'Re\u0301f']) {
    assert.equal((await call('GET', leadPath(near))).status, 404, near)
  }
})

test('a uniqueCode or externalRef with any characters works as an identifier', async () => {
  const { lead, call } = await world()
  for (const name of [
    'a/b',
    '../x',
    'a b',
    '100%',
    'q?x=1',
    '#1',
    '🙂',
    `'"; drop table leads --`,
    '%2F',
    'upsert',
    'é&=+',
  ]) {
    const { id } = await lead({ externalRef: name })
    const { status, body } = await call('GET', leadPath(name))
    assert.equal(status, 200, name)
    assert.equal(body.data.id, id, name)
  }
})

const hostile: [address: string, status: number, message: string][] = [
  ['..%2F', 404, 'Lead not found'],
  ['..%2F..%2Fetc%2Fpasswd', 404, 'Lead not found'],
  ['x'.repeat(255), 404, 'Lead not found'],
  ['%F0%9F%99%82'.repeat(255), 404, 'Lead not found'],
  ['x'.repeat(256), 400, 'Validation failed'],
  ['%F0%9F%99%82'.repeat(256), 400, 'Validation failed'],
  ['1'.repeat(10_000), 400, 'Validation failed'],
  ['%20('.repeat(15_000), 400, 'Validation failed'],
  ['%F0%9F%99%82', 404, 'Lead not found'],
  ["'%20or%201=1%20--", 404, 'Lead not found'],
  ['%22', 404, 'Lead not found'],
  ['%5C', 404, 'Lead not found'],
  ['null', 404, 'Lead not found'],
  ['0', 404, 'Lead not found'],
  ['%20', 404, 'Lead not found'],
  ['+', 404, 'Lead not found'],
  ['__proto__', 404, 'Lead not found'],
  ['%0A', 404, 'Lead not found'],
  ['%00', 400, 'Validation failed'],
  ['a%00b', 400, 'Validation failed'],
  ['%ED%A0%80', 400, 'Validation failed'],
  ['%FF', 400, 'Validation failed'],
  ['%', 400, 'Validation failed'],
  ['%zz', 400, 'Validation failed'],
  ['a/b', 404, 'Route not found'],
]

test('a malicious identifier gets the right 4xx in the standard error shape', async () => {
  const w = await world()
  await w.lead()
  const before = await storedRows(w)
  for (const [address, status, message] of hostile) {
    for (const method of ['GET', 'DELETE'] as const) {
      const { status: answered, body } = await w.call(method, `/api/v1/leads/${address}`)
      assert.deepEqual([answered, body.statusCode, body.statusMessage], [status, status, message], address.slice(0, 40))
    }
  }
  assert.deepEqual(await storedRows(w), before)
})

test('dots in a path do not traverse: they are an identifier like any other', async () => {
  const w = await world()
  const port = await listen(w.app)
  const get = async (path: string) => {
    const head = `Host: x\r\nAuthorization: Bearer ${w.key}\r\nConnection: close`
    const [answer] = await exchange(port, `GET ${path} HTTP/1.1\r\n${head}\r\n\r\n`)
    return { status: answer?.statusCode, ...JSON.parse(answer?.body ?? '') }
  }
  for (const address of ['%2e%2e', '..%2F', '..', '%2E', '..%2f..%2fleads']) {
    const { status, statusMessage } = await get(`/api/v1/leads/${address}`)
    assert.equal(status, 404, address)
    assert.equal(statusMessage, 'Lead not found', address)
  }
  const { id } = await w.lead({ externalRef: '..' })
  assert.equal((await get('/api/v1/leads/%2e%2e')).data.id, id)
})
