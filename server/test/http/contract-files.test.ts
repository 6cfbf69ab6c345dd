import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appWithoutDatabase, checkContract } from '../../../scripts/contract.ts'
import { compileRest } from '../../src/base/validation.ts'

test('the contract in docs/ is the one that the app serves', async () => {
  const app = await appWithoutDatabase()
  assert.deepEqual(await checkContract(app), [], 'run npm run contract')
  await app.close()
})

// They are compiled when they are first needed, which for most of them is in no test.
test('every schema of a route is one that can be compiled', async () => {
  const app = await appWithoutDatabase()
  await compileRest()
  await app.close()
})
