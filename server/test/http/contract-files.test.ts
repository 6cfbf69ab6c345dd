import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appWithoutDatabase, checkContract } from '../../../scripts/contract.ts'

test('the contract in docs/ is the one that the app serves', async () => {
  const app = await appWithoutDatabase()
  assert.deepEqual(await checkContract(app), [], 'run npm run contract')
  await app.close()
})
