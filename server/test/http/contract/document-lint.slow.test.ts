import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appWithoutDatabase } from '../../../../scripts/contract.ts'
import { lintContract } from '../../../../scripts/contract-lint.ts'
import { agentDocument } from '../../../src/agents/http/openapi.ts'
import { agentTools } from '../../../src/agents/tools/all-tools.ts'
import { openapiDocument } from '../../../src/http/contract/openapi.ts'

test('both documents pass the lint rules, and violations are reported', async () => {
  const app = await appWithoutDatabase()
  const document = openapiDocument(app)
  await app.close()
  const agents = agentDocument(agentTools)
  assert.deepEqual(await lintContract(document), [])
  assert.deepEqual(await lintContract(agents), [])
  const broken = structuredClone(document)
  delete broken.paths['/f/{slug}']?.get?.security
  assert.deepEqual(await lintContract(broken), [
    'error #/paths/~1f~1{slug}/get: Every operation should have security defined on it or on the root level. (security-defined)',
  ])
  const [path] = Object.keys(agents.paths)
  const operation = Object.values(agents.paths[path ?? ''] ?? {})[0] ?? assert.fail()
  for (const [keyword, rule] of [
    ['tags', 'rule/operation-tags'],
    ['description', 'operation-description'],
  ] as const) {
    const { [keyword]: kept } = operation
    delete operation[keyword]
    assert.match((await lintContract(agents)).join(), new RegExp(rule))
    operation[keyword] = kept
  }
})
