import fc from 'fast-check'
import type { Schema } from '../../../src/http/contract/openapi-shared.ts'

/** Returns numbers from 0 to 1, determined by the seed. */
export type Random = () => number

export function randomFrom(seed: number): Random {
  let state = seed % 2_147_483_648
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

export function oneOf<T>(random: Random, all: readonly T[]): T {
  const found = all[Math.floor(random() * all.length)]
  if (found === undefined) throw new Error('The list is empty')
  return found
}

export const generate = <T>(arbitrary: fc.Arbitrary<T>, random: Random): T =>
  fc.sample(arbitrary, { numRuns: 1, seed: Math.floor(random() * 2 ** 30) })[0] as T

export interface ValueOptions {
  /** Word contained in every text. */
  word: string
  /** Percentage of values that do not fit the schema. */
  invalidPercent: number
  /** Returns an id for fields of this name; another kind of id if there is none. */
  idFor(name: string): string
}

type Fields = Record<string, Schema> | undefined

/** Returns values of the schema, as far as the schema determines validity. */
export function arbitraryOf(schema: Schema, options: ValueOptions, name = ''): fc.Arbitrary<unknown> {
  const fitting = validArbitraryOf(schema, options, name)
  const weights = [
    { arbitrary: fitting, weight: 100 - options.invalidPercent },
    { arbitrary: invalidValues, weight: options.invalidPercent },
  ]
  return options.invalidPercent === 0 ? fitting : fc.oneof(...weights)
}

function validArbitraryOf(schema: Schema, options: ValueOptions, name: string): fc.Arbitrary<unknown> {
  const of = (part: Schema, as = name) => arbitraryOf(part, options, as)
  const all = (parts: fc.Arbitrary<unknown>[]) => fc.tuple(...parts).map((some) => Object.assign({}, ...some))
  if ('const' in schema) return fc.constant(schema.const)
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum)
  const { anyOf, oneOf: either, allOf, ...rest } = schema as Schema & Record<string, Schema[] | undefined>
  const choices = anyOf ?? either
  if (choices !== undefined) {
    const chosen = fc.oneof(...choices.map((choice) => of(choice)))
    return schema.properties === undefined ? chosen : all([of(rest), chosen])
  }
  if (allOf !== undefined) return all(allOf.map((part) => of(part)))
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map((type) => of({ ...schema, type })))
  if (schema.type === 'object' || 'properties' in schema) return objects(schema, of)
  if (schema.type === 'array') {
    const [minLength, maxLength] = [Number(schema.minItems ?? 0), Math.min(Number(schema.maxItems ?? 3), 3)]
    return fc.array(of((schema.items as Schema | undefined) ?? {}), { minLength, maxLength })
  }
  if (schema.type === 'string') return texts(schema, options, name)
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.type === 'null') return fc.constant(null)
  const min = Number(schema.minimum ?? schema.exclusiveMinimum ?? 0)
  const max = Math.min(Number(schema.maximum ?? min + 1000), min + 1000)
  if (schema.type === 'integer') return fc.integer({ min, max })
  return schema.type === 'number' ? fc.double({ min, max, noNaN: true }) : fc.constant(options.word)
}

function objects(schema: Schema, of: (part: Schema, as: string) => fc.Arbitrary<unknown>): fc.Arbitrary<object> {
  const properties = Object.entries((schema.properties as Fields) ?? {})
  const fields = Object.fromEntries(properties.map(([key, field]) => [key, of(field, key)]))
  const made = fc.record(fields, { requiredKeys: (schema.required as string[] | undefined) ?? [] })
  const [pattern] = Object.entries((schema.patternProperties as Fields) ?? {})
  if (pattern === undefined) return made
  const named = fc.tuple(fc.stringMatching(new RegExp(pattern[0])), of(pattern[1], pattern[0]))
  return fc
    .tuple(made, fc.array(named, { maxLength: 1 }))
    .map(([one, more]) => ({ ...one, ...Object.fromEntries(more) }))
}

function texts(schema: Schema, { word, idFor }: ValueOptions, name: string): fc.Arbitrary<string> {
  const numbers = (max: number) => fc.integer({ min: 0, max })
  if (schema.format === 'uuid' || /(?:^id|[a-z]Ids?|_ids?)$/.test(name)) return fc.constant(0).map(() => idFor(name))
  const noon = Date.parse('2026-03-10T12:00:00.000Z')
  const days = numbers(60).map((day) => new Date(noon + (day - 30) * 86_400_000).toISOString())
  if (schema.format === 'date-time') return days
  if (schema.format === 'date') return days.map((day) => day.slice(0, 10))
  if (/phone/i.test(name)) return numbers(89_999_999).map((n) => `55819${10_000_000 + n}`)
  if (/e?mail/i.test(name)) return numbers(1e6).map((n) => `${word}.${n}@example.com`)
  if (/url$/i.test(name)) return fc.constant(`http://127.0.0.1:9/${word}`)
  const { pattern, example = schema.default ?? (schema.examples as unknown[] | undefined)?.[0] } = schema
  const [least, most] = [Number(schema.minLength ?? 0), Number(schema.maxLength ?? 200)]
  const free = fc.tuple(numbers(1e6), fc.constantFrom('', '', 'João 李明 🙂'))
  const words = free.map(([n, more]) => `${word} ${n} ${more}`.trim().slice(0, most).padEnd(least, 'x'))
  const made = typeof pattern === 'string' && pattern !== '\\S' ? fc.stringMatching(new RegExp(pattern)) : words
  return typeof example === 'string' ? fc.oneof(fc.constant(example), made) : made
}

/** Values that are rarely valid. */
export const invalidValues: fc.Arbitrary<unknown> = fc
  .constantFrom<unknown>(
    ...['', ' ', '\u0000', '\ud800', '🙂', '\u202e', "'; drop table leads; --", '%00', '%', '..%2f..%2f', 'null', '-1'],
    ...['{{1}}', '$' + '{1}', '<script>', '\\', '"', 'İ'.repeat(300), 'x'.repeat(70_000), '٣'.repeat(10)],
    ...[null, true, false, 0, -0, -1, 1.5, 1e15, 2 ** 53, 5e-324, -1e308, 1e308, undefined],
    ...[[], {}, [[]], [null], { $ne: null }, Array(300).fill('a'), { __proto__: null, constructor: { prototype: 1 } }],
    ...['00000000-0000-7000-8000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '9999-12-31T23:59:59.999Z'],
    ...['0000-01-01T00:00:00Z', '2026-02-30', '-271821-04-20T00:00:00.000Z', 'http://169.254.169.254/', 'file:///a'],
    ...['id', 'constructor', 'workspaceId', '', 'k_x'].map((name) => ({ [name]: 'one too many' })),
  )
  .map((value) => structuredClone(value))
