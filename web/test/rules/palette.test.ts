import assert from 'node:assert/strict'
import { test } from 'node:test'
import { disambiguate, findMatches } from '../../src/app/palette-match.ts'

const choices = [
  { label: 'Settings', keywords: 'preferences ajustes configuración' },
  { label: 'New lead', keywords: 'add contact novo' },
  { label: 'Leads: Board', keywords: 'kanban quadro' },
  { label: 'Unassigned leads' },
  { label: 'Aparência: Escuro', keywords: 'dark night oscuro' },
]

for (const [term, labels] of [
  ['', choices.map(({ label }) => label)],
  ['sett', ['Settings']],
  ['LEADS', ['Leads: Board', 'Unassigned leads']],
  ['lead', ['Leads: Board', 'New lead', 'Unassigned leads']],
  ['new lead', ['New lead']],
  ['lead new', ['New lead']],
  ['aparencia', ['Aparência: Escuro']],
  ['dark', ['Aparência: Escuro']],
  ['configuracion', ['Settings']],
  ['kanban', ['Leads: Board']],
  ['ark', []],
  ['assigned', ['Unassigned leads']],
  ['leads: board', ['Leads: Board']],
  ['nothing', []],
] as const)
  test(`"${term}" finds ${labels.length === 0 ? 'nothing' : labels.join(', ')}`, () => {
    const found = findMatches(choices, term).map(({ label }) => label)
    assert.deepEqual(found, labels)
  })

test('a found person comes before synonym matches, and after name matches', () => {
  const found = [{ label: 'Marina Azevedo' }]
  const pages = [{ label: 'Labels', keywords: 'marcadores etiquetas' }, { label: 'Mark as read' }]
  const labels = findMatches(pages, 'mar', found).map(({ label }) => label)
  assert.deepEqual(labels, ['Mark as read', 'Marina Azevedo', 'Labels'])
})

test('a person found as a lead and as a conversation is told apart, by name or phone; others are not', () => {
  const row = (kind: string, label: string, hint?: string) => ({
    ...{ kind, group: `${kind}s`, label },
    ...(hint !== undefined && { hint }),
  })
  const hints = disambiguate([
    row('Conversation', 'Marina Azevedo', '+55 81'),
    row('Conversation', 'mari', '+55 11'),
    row('Conversation', 'Otto', ''),
    row('Conversation', 'Otto', ''),
    row('Lead', 'Marina Azevedo', 'marina@example.com'),
    row('Lead', 'Mariana Reis', '+55 11'),
    row('Lead', 'Nina', ''),
    row('Lead', 'Otto'),
  ]).map(({ hint }) => hint)
  assert.deepEqual(hints, [
    ...['Conversation · +55 81', 'Conversation · +55 11', 'Conversation', 'Conversation'],
    ...['Lead · marina@example.com', 'Lead · +55 11', '', 'Lead'],
  ])
})
