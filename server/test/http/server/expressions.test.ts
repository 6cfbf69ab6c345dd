import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatorWorld } from '../../support/channels/simulator.ts'
import { allRoutes } from '../../support/contract/routes.ts'
import { schemasWithin } from '../../support/limits.ts'
import { regexSources } from './regex-sources.ts'
import { worstOf } from './worst-of.ts'

const { made } = regexSources()

test('regular expressions are not built from strings, except those listed here', () => {
  // Invisible characters, renumberings, one of our file names, classes of letters and scripts, schema patterns (see
  // below), sections of the app, and starts of formulas. Functions that combine several of them are tested with long
  // texts as a whole: targets of sign-ins, cells of files, and amounts with their many currency signs.
  assert.deepEqual(
    [...new Set(made)],
    [
      'server/src/agents/presenters/viewer.ts',
      'server/src/base/encryption/secrets.ts',
      'server/src/base/phone/phone-variants.ts',
      'server/src/base/text/external-text.ts',
      'server/src/base/text/search-text.ts',
      'server/src/base/validation.ts',
      'server/src/leads/transfer/file/cells.ts',
      'server/src/leads/transfer/file/field-values.ts',
      'web/src/sign-in/next.ts',
      'web/src/ui/format/amount.ts',
    ],
  )
})

// Ajv checks patterns even if the text is too long, so maxLength does not protect them.
test('schema patterns are safe and all formats are our own', async () => {
  const { simulator } = await simulatorWorld()
  const schemas = [...(await allRoutes()).map(({ schema }) => schema), simulator.app.swagger()].flatMap((one) => [
    ...schemasWithin({ anyOf: everySchema(one) }),
  ])
  const patterns = new Set(
    schemas.flatMap(({ pattern = [], patternProperties = {} }) => [
      ...[pattern].flat(),
      ...Object.keys(patternProperties as object),
    ]),
  )
  assert.ok(patterns.size > 15, 'the patterns are found')
  const found = [...patterns].map((pattern) => worstOf(new RegExp(String(pattern), 'u')))
  assert.deepEqual(
    found.filter((worst) => worst !== undefined),
    [],
  )
  const formats = new Set(schemas.flatMap(({ format = [] }) => [format].flat()))
  assert.deepEqual([...formats].sort(), ['date', 'date-time', 'uri', 'uuid'])
})

/** Returns all possible schemas within a value. */
function everySchema(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.values(value).flatMap(everySchema)
  return 'type' in value || 'patternProperties' in value ? [value, ...inner] : inner
}
