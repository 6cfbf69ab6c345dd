import assert from 'node:assert/strict'
import { test } from 'node:test'
import { safeNext } from '../../src/sign-in/next.ts'
import { codeProblems, newcomerProblems, newPasswordProblems, signInProblems } from '../../src/sign-in/problems.ts'
import { withTexts } from '../../src/text/index.ts'

await withTexts(async () => {}, ['entry'])

const inWorkspace = '/w/01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
for (const [next, place] of [
  ['/invite/abc_DEF-1', '/invite/abc_DEF-1'],
  [`${inWorkspace}/inbox?view=mine`, `${inWorkspace}/inbox?view=mine`],
  ['/inbox', '/inbox'],
  ['/leads?status=won', '/leads?status=won'],
  [
    '/oauth/authorize?client_id=https%3A%2F%2Fa.example%2Fc.json&scope=inbox.read+leads.read',
    '/oauth/authorize?client_id=https%3A%2F%2Fa.example%2Fc.json&scope=inbox.read+leads.read',
  ],
  ['/oauth/token?x=1', '/'],
  ['', '/'],
  ['https://evil.example', '/'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['javascript:alert(1)', '/'],
  ['/invite/../../x', '/'],
  [`${inWorkspace}\\@evil.example`, '/'],
  ['/invite/a\r\nset-cookie: x', '/'],
  ['/inbox@evil.example', '/'],
  ['/inbox/../f/x', '/'],
  [`/inbox?${'a'.repeat(100_000)}`, '/'],
] as const)
  test(`after signing in ${JSON.stringify(next.slice(0, 60))} leads to ${place}`, () => {
    assert.equal(safeNext(next), place)
  })

const password = 'four plain words together'
for (const [what, found, expected] of [
  [
    'nothing filled in',
    signInProblems({ email: ' ', password: '' }),
    { email: 'Enter your email address.', password: 'Enter your password.' },
  ],
  ['no password', signInProblems({ email: 'ana@example.com', password: '' }), { password: 'Enter your password.' }],
  ['both', signInProblems({ email: 'ana@example.com', password }), {}],
  ['no code', codeProblems({ code: ' ' }), { code: 'Enter the code.' }],
  ['a short password', newPasswordProblems({ password: 'short' }), { password: 'Use at least 12 characters.' }],
  ['a long password', newPasswordProblems({ password: 'x'.repeat(257) }), { password: 'Use at most 256 characters.' }],
  ['a name that shows nothing', newcomerProblems({ name: '\u200b', password }), { name: 'Use 1 to 100 characters.' }],
  ['a long name', newcomerProblems({ name: 'n'.repeat(101), password }), { name: 'Use 1 to 100 characters.' }],
  ['a newcomer', newcomerProblems({ name: ' Bo Chen ', password }), {}],
] as const)
  test(`${what}: the form shows ${JSON.stringify(expected)}, the first field first`, () => {
    assert.deepEqual(found, expected)
    assert.deepEqual(Object.keys(found), Object.keys(expected))
  })
