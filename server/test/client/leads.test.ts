import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConflictError, InvalidRequestError, KeyRejectedError, NotFoundError } from '../../../client/src/errors.ts'
import { clientWorld } from '../support/client/client-world.ts'

test('a lead is created, found by all identifiers, updated, deleted and restored', async () => {
  const { parley } = await clientWorld()
  const { id } = await parley.leads.create({
    firstName: 'Ana',
    externalRef: 'crm/7 ä?',
    customFieldValues: { vip: true },
  })
  assert.equal((await parley.leads.get('crm/7 ä?')).id, id)
  const { status, previousStatus } = await parley.leads.update(id, { status: 'won' })
  assert.deepEqual([status, previousStatus], ['won', 'new'])
  await parley.leads.delete(id)
  await assert.rejects(parley.leads.get(id), NotFoundError)
  assert.equal((await parley.leads.restore(id)).status, 'won')
})

test('a list covers all pages, each lead once', async () => {
  const { parley } = await clientWorld()
  const upserts = Array.from({ length: 230 }, (_, i) => ({
    match: { by: 'externalRef', value: `crm-${i}` } as const,
    lead: { firstName: `Lead ${i}`, externalRef: `crm-${i}` },
  }))
  const indexes: number[] = []
  for await (const { index, success } of parley.leads.upsertAll(upserts)) if (success) indexes.push(index)
  assert.deepEqual(
    indexes,
    upserts.map((_, i) => i),
  )

  const seen = new Set<string>()
  for await (const { externalRef } of parley.leads.list({ sortBy: 'createdAt' })) seen.add(externalRef ?? '')
  assert.equal(seen.size, 230)
  assert.equal((await parley.leads.list().page()).total, 230)
  assert.equal((await parley.leads.list().take(101)).length, 101)
  assert.equal((await parley.leads.list({ limit: 5 }).take(3)).length, 3)
})

test('a rejection has an error class, fields and request id', async () => {
  const { parley, open } = await clientWorld()
  await parley.leads.create({ firstName: 'Ana', externalRef: 'taken' })
  await assert.rejects(parley.leads.create({ firstName: 'Bo', externalRef: 'taken' }), (error) => {
    assert.ok(error instanceof ConflictError)
    return error.field === 'externalRef' && error.status === 409
  })
  await assert.rejects(parley.leads.create({ firstName: '', email: 'x' }), (error) => {
    assert.ok(error instanceof InvalidRequestError)
    assert.match(error.requestId ?? '', /./)
    return error.issues.some(({ path }) => path === 'email')
  })
  await assert.rejects(open({ apiKey: 'plk_nobody' }).parley.leads.list().page(), KeyRejectedError)
})

test('errors and objects of the client never contain the key', async () => {
  const { inspect } = await import('node:util')
  const { open } = await clientWorld()
  const apiKey = 'plk_0123456789abcdefghij12_abc123'
  const { parley } = open({ apiKey })
  const error = await parley.leads.get('x').catch((thrown: unknown) => thrown)
  const options = { depth: 20, showHidden: true }
  assert.throws(
    () => open({ apiKey: `${apiKey}\n` }),
    (thrown) => !inspect(thrown, options).includes(apiKey),
  )
  for (const shown of [inspect(parley, options), inspect(error, options), JSON.stringify([parley, error])])
    assert.ok(!shown.includes(apiKey))
})
