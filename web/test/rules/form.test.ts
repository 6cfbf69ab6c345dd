import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Form } from '../../src/data/forms.ts'
import { draftOf, settingsOf } from '../../src/forms/draft.ts'
import { uniqueKey } from '../../src/forms/fields.ts'

test('a label suggests a valid key that no other field uses', () => {
  const cases: [label: string, taken: string[], key: string][] = [
    ['Company size', [], 'company_size'],
    ['Tamanho da operação?', [], 'tamanho_da_operacao'],
    ['Company size', ['company_size'], 'company_size_2'],
    ['E-mail', [], 'e_mail'],
    ['Phone', [], 'phone_2'],
    ['K factor', [], 'f_k_factor'],
    ['2 years', [], 'years'],
    ['名前', [], 'field'],
  ]
  for (const [label, taken, key] of cases) assert.equal(uniqueKey(label, taken), key, label)
  assert.match(uniqueKey('x'.repeat(200), []), /^x{37}$/)
})

test('unchanged values are saved unchanged', () => {
  const settings = {
    slug: 'visit',
    name: 'Visit',
    title: 'Book',
    description: null,
    fields: [{ key: 'firstName', label: 'Name', type: 'text' as const, required: true, help: 'As in your passport' }],
    submitLabel: 'Send',
    thankYou: 'Thanks',
    redirectUrl: null,
    allowedOrigins: ['https://example.com'],
    source: 'website' as const,
    status: 'new',
    active: true,
  }
  const answer: Form = { ...settings, id: '1', url: '', embedHtml: '', createdAt: '', updatedAt: '' }
  assert.deepEqual(settingsOf(draftOf(answer)), settings)
  const typed = { ...draftOf(answer), allowedOrigins: ' https://a.example/ \n\n*' }
  assert.deepEqual(settingsOf(typed).allowedOrigins, ['https://a.example', '*'])
})
