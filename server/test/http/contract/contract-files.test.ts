import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appWithoutDatabase, checkContract } from '../../../../scripts/contract.ts'
import { lintContract } from '../../../../scripts/contract-lint.ts'
import { compileRest } from '../../../src/base/validation.ts'
import { openapiDocument } from '../../../src/http/contract/openapi.ts'

test('the contract in docs/ is the one that the app serves', async () => {
  const app = await appWithoutDatabase()
  assert.deepEqual(await checkContract(app), [], 'run npm run contract')
  await app.close()
})

test('the document keeps the rules of the field, and a broken one is told of', async () => {
  const app = await appWithoutDatabase()
  const document = openapiDocument(app)
  await app.close()
  assert.deepEqual(await lintContract(document), [])
  const broken = structuredClone(document)
  delete broken.paths['/f/{slug}']?.get?.security
  assert.deepEqual(await lintContract(broken), [
    'error #/paths/~1f~1{slug}/get: Every operation should have security defined on it or on the root level. (security-defined)',
  ])
})

// They are compiled when they are first needed, which for most of them is in no test.
test('every schema of a route is one that can be compiled', async () => {
  const app = await appWithoutDatabase()
  await compileRest()
  await app.close()
})
