import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../src/api/api-error.ts'
import {
  type ChangedLead,
  digitsOf,
  isAnyRenamed,
  isSameNumber,
  recipientMatches,
} from '../../src/data/inbox/recipient-rules.ts'
import { fieldOf, numbersFor, type StartField } from '../../src/shared/start/start-rules.ts'

const typed: [text: string, digits: string | null][] = [
  ['+55 11 96660-1234', '5511966601234'],
  ['(11) 96660.1234', '11966601234'],
  ['12345678', '12345678'],
  ['1234567', null],
  ['123456789012345678901', null],
  ['order 96660-1234', null],
  ['ana@example.com', null],
  ['', null],
]

for (const [text, digits] of typed)
  test(`“${text}” is ${digits === null ? 'not a complete number' : `the number ${digits}`}`, () => {
    assert.equal(digitsOf(text), digits)
  })

const spelled: [one: string, other: string, isSame: boolean][] = [
  ['5511966601234', '+55 11 96660-1234', true],
  // Brazilian mobile numbers once had one digit fewer, and people leave out the country code.
  ['551166601234', '5511966601234', true],
  ['5511966601234', '11 96660-1234', true],
  ['5511966601234', '5511966601235', false],
  ['5511966601234', 'ana', false],
]

for (const [one, other, isSame] of spelled)
  test(`${one} and ${other} are ${isSame ? 'the same number' : 'different numbers'}`, () => {
    assert.equal(isSameNumber(one, other), isSame)
  })

test('each number is offered once: by its lead, otherwise by the customer’s own name', () => {
  const lead = { firstName: 'Ana', lastName: 'Prado', phone: '5511966601234', email: null }
  const nobody = { firstName: 'Rui', lastName: null, phone: null, email: 'rui@example.com' }
  const contacts = [
    { name: 'ana p', phone: '5511966601234' },
    { name: 'Lia Marca', phone: '5511955550000' },
    { name: null, phone: '5511955550001' },
    { name: 'Unseen', phone: null },
  ]
  const people = recipientMatches(
    [lead, nobody],
    contacts.map((contact) => ({ contact })),
  )
  assert.deepEqual(
    people.map(({ name, firstName, phone }) => [name, firstName, phone]),
    [
      ['Ana Prado', 'Ana', '5511966601234'],
      ['Rui', 'Rui', null],
      ['Lia Marca', 'Lia', '5511955550000'],
      ['', '', '5511955550001'],
    ],
  )
})

const waba = { id: 'waba', channel: 'waba', state: 'active' } as const
const partner = { id: 'partner', channel: 'partner', state: 'active' } as const
const paused = { id: 'paused', channel: 'waba', state: 'paused' } as const
const qr = { id: 'qr', channel: 'unofficial', state: 'active' } as const

test('offers connections that may start conversations, and those with an existing one', () => {
  const idsWith = (...connectionIds: string[]) =>
    numbersFor(
      [qr, waba, paused, partner],
      connectionIds.map((connectionId) => ({ connectionId })),
    ).map(({ id }) => id)
  assert.deepEqual(idsWith(), ['waba', 'partner'])
  assert.deepEqual(idsWith('qr', 'waba'), ['qr', 'waba', 'partner'])
})

const refusals: [error: unknown, place: StartField][] = [
  [
    new ApiError(400, 'Validation failed', { issues: [{ path: 'phone', message: 'must be a phone number' }] }),
    'recipient',
  ],
  [new ApiError(404, 'Chat connection not found', { code: 'NOT_FOUND' }), 'number'],
  [new ApiError(409, '', { code: 'CONNECTION_UNAVAILABLE' }), 'number'],
  [new ApiError(422, '', { code: 'TEMPLATE_NOT_APPROVED' }), 'template'],
  [new ApiError(422, '', { code: 'INVALID_MESSAGE' }), 'all'],
  [new ApiError(0, ''), 'all'],
  [new Error('nothing of the service'), 'all'],
]

for (const [error, place] of refusals)
  test(`${error instanceof ApiError ? `${error.status} ${error.code}` : error} is shown at ${place}`, () => {
    assert.equal(fieldOf(error), place)
  })

const mari = { contact: { name: 'Mari', phone: '5511966601234' }, leadId: null }
const ofLead = { contact: { name: 'Ana Prado', phone: '5511966601234' }, leadId: 'l1' }
const anaPrado = { id: 'l1', firstName: 'Ana', lastName: 'Prado', phone: '5511966601234' }
const renamings: [what: string, contact: typeof mari | typeof ofLead, lead: ChangedLead, isRenamed: boolean][] = [
  ['a new lead with the number', mari, anaPrado, true],
  ['a lead with the older spelling of the number', mari, { ...anaPrado, phone: '551166601234' }, true],
  ['a lead with another number', mari, { ...anaPrado, phone: '5511966601235' }, false],
  ['another name of the lead', ofLead, { ...anaPrado, lastName: 'Lima' }, true],
  ['another status of the lead', ofLead, anaPrado, false],
  ['another number of the lead', ofLead, { ...anaPrado, phone: '5511966601235' }, true],
  ['deletion of the lead', ofLead, { ...anaPrado, deletedAt: '2026-07-01T12:00:00Z' }, true],
  ['restoring an older lead with the number', ofLead, { ...anaPrado, id: 'l0' }, true],
  ['deletion of another lead', mari, { ...anaPrado, deletedAt: '2026-07-01T12:00:00Z' }, false],
]

for (const [what, contact, lead, isRenamed] of renamings)
  test(`${what} ${isRenamed ? 'may change' : 'does not change'} a customer’s name`, () => {
    assert.equal(isAnyRenamed([{ contact: { name: null, phone: null }, leadId: null }, contact], [lead]), isRenamed)
  })
