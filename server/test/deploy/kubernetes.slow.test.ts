import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allManifests, problemsOf } from '../support/deploy/manifests.ts'

// biome-ignore lint/suspicious/noExplicitAny: manifests of every shape
type Any = any

test('Kubernetes takes every manifest and knows all that is in them; a field that it does not know, and a wrong value, are found', async () => {
  assert.ok(allManifests.length > 10)
  const api: Any = allManifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'parley-api')
  const spoilt = (name: string, spoil: (container: Any) => void) => {
    const bad = structuredClone(api)
    bad.metadata.name = name
    spoil(bad.spec.template.spec.containers[0])
    return bad
  }
  const unknown = spoilt('unknown', (one) => Object.assign(one, { readynessProbe: one.readinessProbe }))
  const wrong = spoilt('wrong', (one) => Object.assign(one.ports[0], { containerPort: '7007' }))
  const problems = await problemsOf([...allManifests, unknown, wrong])
  assert.deepEqual(
    problems.filter((problem) => !/^Deployment (unknown|wrong): /.test(problem)),
    [],
  )
  assert.match(problems.join('\n'), /^Deployment unknown: .*"readynessProbe"' does not exist/m)
  assert.match(problems.join('\n'), /^Deployment wrong: data\S*containerPort must be integer/m)
})
