import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importWorld } from '../../support/leads/import-world.ts'
import { pick } from '../../support/pick.ts'

test('a file fills defined fields by label, in their types; invalid values are refused', async () => {
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
  assert.deepEqual(pick(columns, 'target'), ['firstName', 'customFieldValues.cidade', 'customFieldValues.orcamento'])
  const done = await w.importAll(file, { match: 'none' })
  assert.deepEqual([done.created, done.refused], [1, 2])
  assert.deepEqual(pick(done.refusals.kinds, 'field', 'message'), [
    ['customFieldValues.cidade', 'must be one of Recife, São Paulo'],
    ['customFieldValues.orcamento', 'must be a number such as 12.5'],
  ])
  const [{ uniqueCode }] = await w.leads()
  const { body } = await w.call('GET', `/api/v1/leads/${uniqueCode}`)
  assert.deepEqual(body.data.customFields, [
    { key: 'cidade', label: 'Cidade', type: 'select', value: 'São Paulo' },
    { key: 'orcamento', label: 'Orçamento previsto', type: 'number', value: '1500.5' },
  ])
})

const plans = [
  { key: 'plano', label: 'Plano', type: 'select', choices: ['Gold', 'Silver, old'] },
  { key: 'k_gosta', label: 'Gosta', type: 'multiselect', choices: ['Chá', 'Café | forte', 'Mate'] },
]

async function planWorld() {
  const w = await importWorld()
  for (const field of plans) assert.equal((await w.team('POST', '/lead-fields', field)).status, 201)
  const fieldsOf = async () => {
    const all = await Promise.all((await w.leads()).map(({ id }) => w.call('GET', `/api/v1/leads/${id}`)))
    return all.map(({ body }) => pick(body.data.customFields, 'value'))
  }
  return { ...w, fieldsOf }
}

const file = 'nome;plano;gosta\nAna;ouro;cha, café | forte\nBia;GOLD;Mate|suco\nCaio;nenhum;Suco\nDuda;"Silver, old";\n'

test('the values in a file for a choice field are listed separately, with the probable choice', async () => {
  const w = await planWorld()
  const id = await w.upload(file)
  const values = async (column: string, field: string) =>
    (await w.team('GET', `/lead-imports/${id}/values?column=${column}&field=${field}`)).body
  assert.deepEqual((await values('plano', 'customFieldValues.plano')).values, [
    { text: 'ouro', count: 1, value: null },
    { text: 'GOLD', count: 1, value: 'Gold' },
    { text: 'nenhum', count: 1, value: null },
    { text: 'Silver, old', count: 1, value: 'Silver, old' },
  ])
  assert.deepEqual((await values('gosta', 'k_gosta')).values, [
    { text: 'suco', count: 2, value: null },
    { text: 'cha', count: 1, value: 'Chá' },
    { text: 'café', count: 1, value: null },
    { text: 'forte', count: 1, value: null },
    { text: 'Mate', count: 1, value: 'Mate' },
  ])
  for (const field of ['firstName', 'k_other', 'customFieldValues.']) {
    const { status, body } = await w.team('GET', `/lead-imports/${id}/values?column=plano&field=${field}`)
    assert.deepEqual([status, body.data.issues[0].path], [400, 'field'], field)
  }
})

test('an unknown choice is refused with row and column until it is mapped', async () => {
  const w = await planWorld()
  const refused = await w.importAll(file, { match: 'none' })
  assert.deepEqual([refused.created, refused.refused], [1, 3])
  assert.deepEqual(
    refused.refusals.examples.map(({ row, field }: { row: number; field: string }) => `${row} ${field}`),
    ['2 customFieldValues.plano', '2 k_gosta', '3 k_gosta', '4 customFieldValues.plano', '4 k_gosta'],
  )
  const fieldValues = {
    'customFieldValues.plano': { OURO: 'Gold', nenhum: null },
    k_gosta: { suco: 'Mate', café: 'Café | forte', forte: null },
  }
  const done = await w.importAll(file, { match: 'none', fieldValues })
  assert.deepEqual([done.created, done.refused], [4, 0], JSON.stringify(done.refusals))
  assert.deepEqual(done.choice.fieldValues['customFieldValues.plano'], { ouro: 'Gold', nenhum: null })
  assert.deepEqual((await w.fieldsOf()).slice(1), [
    ['Gold', 'Chá, Café | forte'],
    ['Gold', 'Mate'],
    ['Mate'],
    ['Silver, old'],
  ])
})

test('a mapping to an unknown choice, or for a field without choices, is rejected before the file is read', async () => {
  const w = await planWorld()
  assert.equal((await w.team('POST', '/lead-fields', { key: 'altura', label: 'Altura', type: 'number' })).status, 201)
  const id = await w.upload(file)
  for (const fieldValues of [
    { 'customFieldValues.plano': { ouro: 'Platinum' } },
    { 'customFieldValues.altura': { alto: '2' } },
    { k_nobody: { x: null } },
    { status: { x: 'won' } },
  ]) {
    const { status, body } = await w.team('POST', `/lead-imports/${id}/start`, { match: 'none', fieldValues })
    assert.deepEqual([status, body.data.issues[0].path], [400, `fieldValues.${Object.keys(fieldValues)[0]}`])
  }
})
