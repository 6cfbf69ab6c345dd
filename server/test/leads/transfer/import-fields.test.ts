import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importWorld } from '../../support/leads/import-world.ts'

test('a file fills defined fields by their label, in their types; what does not fit is refused', async () => {
  const w = await importWorld()
  for (const field of [
    { key: 'cidade', label: 'Cidade', type: 'select', choices: ['Recife', 'São Paulo'] },
    { key: 'orcamento', label: 'Orçamento previsto', type: 'amount' },
  ]) {
    assert.equal((await w.team('POST', '/lead-fields', field)).status, 201)
  }
  const file = 'nome,cidade,orcamento previsto\nAna,sao paulo,"R$ 1.500,50"\nBia,Olinda,\nCaio,Recife,muito\n'
  const id = await w.upload(file)
  const { columns } = (await w.team('GET', `/lead-imports/${id}/preview`)).body
  assert.deepEqual(
    columns.map(({ target }: { target: string }) => target),
    ['firstName', 'customFieldValues.cidade', 'customFieldValues.orcamento'],
  )
  const done = await w.importAll(file, { match: 'none' })
  assert.deepEqual([done.created, done.refused], [1, 2])
  assert.deepEqual(
    done.refusals.kinds.map(({ field, message }: { field: string; message: string }) => [field, message]),
    [
      ['customFieldValues.cidade', 'must be one of Recife, São Paulo'],
      ['customFieldValues.orcamento', 'must be a number such as 12.5'],
    ],
  )
  const [{ uniqueCode }] = await w.leads()
  const { body } = await w.call('GET', `/api/v1/leads/${uniqueCode}`)
  assert.deepEqual(body.data.customFields, [
    { key: 'cidade', label: 'Cidade', type: 'select', value: 'São Paulo' },
    { key: 'orcamento', label: 'Orçamento previsto', type: 'number', value: '1500.5' },
  ])
})
