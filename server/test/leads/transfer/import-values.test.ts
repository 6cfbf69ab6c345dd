import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DecimalSeparator, parseFileAmount, proposeValue } from '../../../src/leads/transfer/file/field-values.ts'
import { importWorld } from '../../support/leads/import-world.ts'
import { signedInMember } from '../../support/member.ts'
import { pick } from '../../support/pick.ts'

test('an amount in a file is parsed if it is unambiguous, or if the decimal separator is given', () => {
  const table: [string, DecimalSeparator | null, number | null][] = [
    ['1500', null, 1500],
    ['1500.50', null, 1500.5],
    ['1500,5', null, 1500.5],
    ['1.234,50', null, 1234.5],
    ['1,234.50', null, 1234.5],
    ['1.234.567', null, 1_234_567],
    ['R$ 1.234,50', null, 1234.5],
    ['US$1,234.50', null, 1234.5],
    ['2 500,00 €', null, 2500],
    ['2\u00a0500', null, 2500],
    ["2'500.50", null, 2500.5],
    ['-1500.50', null, -1500.5],
    ['2.500', null, null],
    ['2,500', null, null],
    ['2.500', ',', 2500],
    ['2.500', '.', 2.5],
    ['2,500', '.', 2500],
    ['1.234,50', '.', null],
    ['12.34.567', null, null],
    ['1234.567,00', ',', null],
    ['1.', null, null],
    ['.5', null, null],
    ['a lot', null, null],
    ['', null, null],
    ['1e9', null, null],
    ['9'.repeat(61), null, null],
  ]
  for (const [text, decimal, expected] of table) {
    assert.equal(parseFileAmount(text, decimal), expected, `${text} with ${decimal}`)
  }
})

test('the probable meaning of a file value is proposed from its name, ignoring accents, in three languages', () => {
  const statuses = ['new', 'won', 'lost', 'em_negociacao']
  const table: [Parameters<typeof proposeValue>[0], string, string | null][] = [
    ['status', 'Novo', 'new'],
    ['status', 'GANHO', 'won'],
    ['status', 'Em negociação', 'em_negociacao'],
    ['status', 'Qualificado', null],
    ['status', '新', null],
    ['priority', 'Média', 'medium'],
    ['source', 'WhatsApp', 'chat_app'],
    ['source', 'Indicação', 'referral'],
    ['adPlatform', 'Instagram', 'meta'],
    ['assignedTo', 'Ana', null],
  ]
  for (const [field, text, expected] of table) assert.equal(proposeValue(field, text, statuses), expected, text)
})

const file = 'nome;etapa;origem\nAna;Novo;Site\nBia;ganho;\nCaio;GANHO;Feira\nDuda;Arquivado;ads\nEva;won;x\n'

test('an import creates no statuses: unknown values are refused until they are mapped', async () => {
  const w = await importWorld()
  const refused = await w.importAll(file, { match: 'none' })
  assert.deepEqual([refused.created, refused.refused], [0, 5])
  assert.deepEqual(pick(refused.refusals.kinds, 'field', 'count'), [
    ['status', 4],
    ['source', 1],
  ])
})

test('the values of a column are listed with their probable meaning, and their rows are imported with a mapping', async () => {
  const w = await importWorld()
  const id = await w.upload(file)
  const listed = await w.team('GET', `/lead-imports/${id}/values?column=etapa&field=status`)
  assert.deepEqual(listed.body, {
    values: [
      { text: 'ganho', count: 2, value: 'won' },
      { text: 'Novo', count: 1, value: 'new' },
      { text: 'Arquivado', count: 1, value: null },
      { text: 'won', count: 1, value: 'won' },
    ],
    isWhole: true,
  })
  assert.equal((await w.team('GET', `/lead-imports/${id}/values?column=nada&field=status`)).status, 422)
  const bad = await w.team('POST', `/lead-imports/${id}/start`, {
    match: 'none',
    values: { status: { Arquivado: 'archived' } },
  })
  assert.deepEqual([bad.status, bad.body.data.issues[0].path], [400, 'values.status'])
  const values = {
    status: { novo: 'new', ganho: 'won', Arquivado: null },
    source: { Site: 'website', feira: 'event', x: 'other' },
  }
  const done = await w.importAll(file, { match: 'none', values })
  assert.deepEqual([done.created, done.refused], [5, 0])
  assert.deepEqual(done.choice.values.status, { novo: 'new', ganho: 'won', arquivado: null })
  assert.deepEqual(pick(await w.leads(), 'firstName', 'status', 'source'), [
    ['Ana', 'new', 'website'],
    ['Bia', 'won', 'other'],
    ['Caio', 'won', 'event'],
    ['Duda', 'new', 'ads'],
    ['Eva', 'won', 'other'],
  ])
})

test('members are matched by e-mail, or by a unique name', async () => {
  const w = await importWorld()
  const member = await signedInMember(w)
  const text = 'name,owner\nAna,ana lima\nBia,Nobody\n'
  const id = await w.upload(text)
  const { values } = (await w.team('GET', `/lead-imports/${id}/values?column=owner&field=assignedTo`)).body
  assert.deepEqual(pick(values, 'value'), [member.userId, null])
  const done = await w.importAll(text, {
    match: 'none',
    values: { assignedTo: { 'Ana Lima': member.userId, nobody: null } },
  })
  assert.equal(done.created, 2)
  assert.deepEqual(pick(await w.leads(), 'assignedTo'), [member.userId, null])
  await signedInMember(w)
  const again = await w.team('GET', `/lead-imports/${id}/values?column=owner&field=assignedTo`)
  assert.equal(again.body.values[0].value, null, 'two have this name')
})

test('full names are split only on request, and a last name in the row is kept', async () => {
  const w = await importWorld()
  const rows = 'name,sobrenome\nAna Maria de Souza,\nBia,\n"Lima, Caio",\nDuda Reis,Alves\n'
  await w.importAll(rows, { match: 'none' })
  await w.importAll(rows, { match: 'none', splitNames: true })
  assert.deepEqual(pick(await w.leads(), 'firstName', 'lastName'), [
    ['Ana Maria de Souza', null],
    ['Bia', null],
    ['Lima, Caio', null],
    ['Duda Reis', 'Alves'],
    ['Ana', 'Maria de Souza'],
    ['Bia', null],
    ['Caio', 'Lima'],
    ['Duda Reis', 'Alves'],
  ])
})

test('custom fields get the column heading or the chosen label, and existing fields keep theirs', async () => {
  const w = await importWorld()
  const text = 'name,externalRef,Cidade natal,k_plan\nAna,a,Olinda,Gold\n'
  await w.importAll(text, { match: 'externalRef', labels: { k_plan: 'Plano' } })
  const fields = async () => {
    const [{ id }] = await w.leads()
    return (await w.call('GET', `/api/v1/leads/${id}`)).body.data.customFields
  }
  assert.deepEqual(await fields(), [
    { key: 'k_cidade_natal', label: 'Cidade natal', type: 'text', value: 'Olinda' },
    { key: 'k_plan', label: 'Plano', type: 'text', value: 'Gold' },
  ])
  await w.importAll('name,externalRef,k_plan\nAna,a,Silver\n', { match: 'externalRef', labels: { k_plan: 'Tarifa' } })
  assert.deepEqual((await fields())[1], { key: 'k_plan', label: 'Plano', type: 'text', value: 'Silver' })
})

test('ambiguous amounts are refused, or parsed with the given decimal separator', async () => {
  const w = await importWorld()
  const text = 'name;valor\nAna;R$ 2.500\nBia;1.234,50\n'
  const unclear = await w.importAll(text, { match: 'none' })
  assert.deepEqual([unclear.created, unclear.refused], [1, 1])
  assert.match(unclear.refusals.kinds[0].message, /set the decimal separator/)
  const told = await w.importAll(text, { match: 'none', decimal: ',' })
  assert.equal(told.created, 2)
  assert.deepEqual(pick(await w.leads(), 'estimatedValue'), [1234.5, 2500, 1234.5])
})
