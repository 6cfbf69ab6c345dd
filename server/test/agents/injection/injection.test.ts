import assert from 'node:assert/strict'
import { test } from 'node:test'
import { facesFor, type Injection } from './injection.ts'
import { injections } from './injections/all.ts'
import { places } from './places.ts'
import { testInjections } from './try-injection.ts'

// All combinations run in injection.slow.test.ts. This runs one per place and per outcome of each key.
const kinds = [({ place }: Injection) => place, ({ ends, as }: Injection) => `${ends} ${as}`]
const samples = new Set(kinds.flatMap((kind) => [...new Map(injections.map((one) => [kind(one), one])).values()]))
testInjections([...samples].map((one, n) => [one, facesFor(one)[n % facesFor(one).length] ?? 'MCP']))

test('at least 60 injections cover all places', () => {
  assert.ok(injections.length >= 60, `${injections.length}`)
  const names = injections.map(({ name }) => name)
  assert.equal(new Set(names).size, names.length)
  const used = new Set<string>(injections.map(({ place }) => place))
  assert.deepEqual(
    Object.keys(places).filter((name) => !used.has(name)),
    [],
  )
  for (const { name, ends, because } of injections) assert.equal(ends === 'own', because !== undefined, name)
})
