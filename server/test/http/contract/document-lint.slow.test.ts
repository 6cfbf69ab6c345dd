import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appWithoutDatabase } from '../../../../scripts/contract.ts'
import { lintContract } from '../../../../scripts/contract-lint.ts'
import { openapiDocument } from '../../../src/http/contract/openapi.ts'

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
