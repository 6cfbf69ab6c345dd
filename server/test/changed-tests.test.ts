import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { testsReachedBy } from '../../scripts/changed-tests.ts'

const tests = globSync('{server,web}/test/**/*.test.ts')
const cases: [changed: string, reached: string[], others: string[]][] = [
  ['server/test/schema.test.ts', ['server/test/schema.test.ts'], ['server/test/leads/write/upsert.test.ts']],
  [
    'server/src/inbox/send/send-checks.ts',
    ['server/test/inbox/send/send-idempotency.test.ts'],
    ['server/test/leads/write/upsert.test.ts', 'server/test/webhooks/deliver/deliver.test.ts'],
  ],
  ['server/src/webhooks/endpoint/retry-policy.ts', ['server/test/webhooks/endpoint/retry-policy.test.ts'], []],
  ['server/test/support/world.ts', ['server/test/leads/write/upsert.test.ts'], ['server/test/architecture.test.ts']],
  [
    'server/migrations/0001-workspaces.sql',
    ['server/test/schema.test.ts', 'server/test/base/upgrades.slow.test.ts'],
    [],
  ],
  ['web/src/inbox/Inbox.tsx', ['web/test/journeys/inbox.e2e.test.ts'], ['server/test/schema.test.ts']],
  ['README.md', ['server/test/documents.test.ts'], ['server/test/schema.test.ts']],
]

for (const [changed, reached, others] of cases) {
  test(`a change of ${changed} runs the tests that it reaches, and not all`, () => {
    const isReached = testsReachedBy([changed])
    for (const file of [...reached, ...others]) assert.ok(tests.includes(file), `${file} is there`)
    assert.deepEqual([...reached, ...others].filter(isReached), reached)
  })
}
