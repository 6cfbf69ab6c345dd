import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { systemResolver } from '../../../src/base/outgoing/guard.ts'
import { openOutgoing } from '../../../src/base/outgoing/guarded-fetch.ts'
import { openCanary, rawServer } from '../../support/outgoing/raw-server.ts'
import { nameServer } from './name-server.ts'

// As in guarded-fetch-names: 127.0.0.2 is public here, 127.0.0.1 and ::1 are private.
const outside = '127.0.0.2'
const inside6 = Buffer.from([...Array(15).fill(0), 1])
const canary = await openCanary()
const receiver = await rawServer(outside, canary.port)
const names = await nameServer({
  'plain.example.com': { a: [outside] },
  'alias.example.com': { a: [outside], alias: 'elsewhere.example.net' },
  'inside.example.com': { a: ['127.0.0.1'] },
  'alias-inside.example.com': { a: ['127.0.0.1'], alias: 'elsewhere.example.net' },
  'mixed.example.com': { a: [outside, '127.0.0.1'] },
  'six.example.com': { a: [outside], aaaa: [inside6] },
  'empty.example.com': {},
})
const resolve = systemResolver([names.address])
const outgoing = openOutgoing({ allowCidrs: [outside], resolve })
after(async () => {
  outgoing.close()
  names.close()
  await receiver.close()
  await canary.close()
})

const outcomes: [name: string, outcome: string][] = [
  ['plain.example.com', 'answered'],
  ['plain.example.com.', 'answered'],
  ['PLAIN.example.com', 'answered'],
  ['alias.example.com', 'answered'],
  ['inside.example.com', 'forbidden_address'],
  ['alias-inside.example.com', 'forbidden_address'],
  ['mixed.example.com', 'forbidden_address'],
  ['six.example.com', 'forbidden_address'],
  ['empty.example.com', 'dns'],
  ['unknown.example.com', 'dns'],
]

for (const [name, outcome] of outcomes) {
  test(`with a real name server, ${name} is ${outcome}`, async () => {
    const url = `http://${name}:${receiver.port}/`
    const request = { method: 'POST', headers: {}, body: '{}', timeoutMs: 10_000, maxAnswerBytes: 100 } as const
    const answer = await outgoing.call({ ...request, url })
    assert.equal(answer.outcome === 'answered' ? answer.outcome : answer.error, outcome)
    assert.equal(canary.count(), 0)
  })
}

test('concurrent calls to a name share a cached DNS query', async () => {
  names.questions = []
  const fresh = systemResolver([names.address])
  const answers = await Promise.all(Array.from({ length: 50 }, () => fresh('plain.example.com')))
  assert.deepEqual(new Set(answers.flat()), new Set([outside]))
  assert.deepEqual(names.questions.sort(), ['plain.example.com a', 'plain.example.com aaaa'])
})

test('the hosts file takes precedence over name servers', async () => {
  names.questions = []
  assert.ok((await resolve('localhost')).includes('127.0.0.1'))
  assert.deepEqual(names.questions, [])
})
