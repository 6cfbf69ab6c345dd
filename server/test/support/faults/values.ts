import fc from 'fast-check'
import type { Schema } from '../../../src/http/contract/openapi-types.ts'

/** Numbers from 0 to 1 that follow from the seed. */
export type Random = () => number

export function randomFrom(seed: number): Random {
  let state = seed % 2_147_483_648
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

const below = (random: Random, n: number): number => Math.floor(random() * n)

export function oneOf<T>(random: Random, all: readonly T[]): T {
  const found = all[below(random, all.length)]
  if (found === undefined) throw new Error('There is nothing to choose from')
  return found
}

export interface Making {
  random: Random
  /** Stands in every text that is made. */
  word: string
  /** How likely is what need not be there. */
  share: number
  /** An id of what fields of this name are about; something else's for want of one. */
  idFor(name: string): string
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

type Fields = Record<string, Schema> | undefined

/** Makes a value of the schema, as far as a schema says what fits. */
export function madeOf(schema: Schema, making: Making, name = '', depth = 0): unknown {
  const { random } = making
  const make = (part: Schema, as = name) => madeOf(part, making, as, depth + 1)
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum)) return oneOf(random, schema.enum)
  const choices = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined
  if (choices !== undefined) {
    const chosen = make(oneOf(random, choices))
    if (schema.properties === undefined || !isObject(chosen)) return chosen
    return { ...(make({ ...schema, anyOf: undefined, oneOf: undefined }) as object), ...chosen }
  }
  if (Array.isArray(schema.allOf)) return Object.assign({}, ...schema.allOf.map((part: Schema) => make(part)))
  const examples = [schema.example ?? (schema.examples as unknown[] | undefined)?.[0]]
  if (examples[0] !== undefined && typeof examples[0] !== 'string' && random() < 0.3) return examples[0]
  const type = Array.isArray(schema.type) ? oneOf(random, schema.type as string[]) : schema.type
  if (type === 'object' || (type === undefined && 'properties' in schema)) return objectOf(schema, making, make, depth)
  if (type === 'array') {
    const most = Math.min(Number(schema.maxItems ?? 3), 3)
    const length = Math.max(Number(schema.minItems ?? 0), below(random, most + 1))
    return Array.from({ length }, () => make((schema.items as Schema | undefined) ?? {}))
  }
  if (type === 'string') return textOf(schema, making, name)
  if (type === 'integer' || type === 'number') return numberOf(schema, random, type === 'integer')
  if (type === 'boolean') return random() < 0.5
  return type === 'null' ? null : making.word
}

function objectOf(schema: Schema, making: Making, make: (part: Schema, as: string) => unknown, depth: number) {
  const required = new Set((schema.required as string[] | undefined) ?? [])
  const isWanted = (name: string) => required.has(name) || (depth < 6 && making.random() < making.share)
  const fields = Object.entries((schema.properties as Fields) ?? {}).filter(([name]) => isWanted(name))
  const made = Object.fromEntries(fields.map(([name, field]) => [name, make(field, name)]))
  const patterns = Object.entries((schema.patternProperties as Fields) ?? {})
  if (patterns.length > 0 && making.random() < 0.3) {
    const [pattern, field] = oneOf(making.random, patterns)
    made[matching(pattern, making.random)] = make(field, pattern)
  }
  return made
}

const noon = Date.parse('2026-03-10T12:00:00.000Z')

function textOf(schema: Schema, making: Making, name: string): string {
  const { random, word } = making
  if (schema.format === 'uuid' || /(?:^id|[a-z]Ids?|_ids?)$/.test(name)) return making.idFor(name)
  const day = new Date(noon + (below(random, 60) - 30) * 86_400_000).toISOString()
  if (schema.format === 'date-time') return day
  if (schema.format === 'date') return day.slice(0, 10)
  if (/phone/i.test(name)) return `55819${10_000_000 + below(random, 89_999_999)}`
  if (/e?mail/i.test(name)) return `${word}.${below(random, 1e6)}@example.com`
  if (/url$/i.test(name)) return `http://127.0.0.1:9/${word}`
  const example = schema.example ?? schema.default ?? (schema.examples as unknown[] | undefined)?.[0]
  if (typeof example === 'string' && random() < 0.5) return example
  if (typeof schema.pattern === 'string' && schema.pattern !== '\\S') return matching(schema.pattern, random)
  const text = `${word} ${below(random, 1e6)} ${random() < 0.3 ? 'João 李明 🙂' : ''}`.trim()
  return text.slice(0, Number(schema.maxLength ?? 200)).padEnd(Number(schema.minLength ?? 0), 'x')
}

const matching = (pattern: string, random: Random): string =>
  fc.sample(fc.stringMatching(new RegExp(pattern)), { numRuns: 1, seed: below(random, 2 ** 30) })[0] ?? ''

function numberOf(schema: Schema, random: Random, isWhole: boolean): number {
  const least = Number(schema.minimum ?? schema.exclusiveMinimum ?? 0)
  const most = Number(schema.maximum ?? least + 1000)
  if (random() < 0.2) return random() < 0.5 ? least : most
  const between = least + random() * Math.min(most - least, 1000)
  return isWhole ? Math.floor(between) : Math.round(between * 100) / 100
}

const odd: readonly unknown[] = [
  ...['', ' ', '\u0000', '\ud800', '🙂', '\u202e', "'; drop table leads; --", '%00', '%', '..%2f..%2f', 'null', '-1'],
  ...[
    '{{1}}',
    '$' + '{1}',
    '<script>',
    '\\',
    '"',
    'İ'.repeat(300),
    'ﷺ'.repeat(300),
    'x'.repeat(70_000),
    '٣'.repeat(10),
  ],
  ...[null, true, false, 0, -0, -1, 1.5, 1e15, 2 ** 53, 5e-324, -1e308, 1e308],
  ...[[], {}, [[]], [null], { $ne: null }, Array(300).fill('a'), { __proto__: null, constructor: { prototype: 1 } }],
  ...['00000000-0000-7000-8000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '9999-12-31T23:59:59.999Z'],
  ...['0000-01-01T00:00:00Z', '2026-02-30', '-271821-04-20T00:00:00.000Z', 'http://169.254.169.254/', 'file:///a'],
]
const oddNames = ['id', 'constructor', 'workspaceId', '', 'k_x', 'a'.repeat(300)]

/** Something that is seldom what is meant. */
export const oddValue = (random: Random): unknown => structuredClone(oneOf(random, odd))

/** The same with so many of its places spoiled: another value, nothing, or one too many. */
export function spoil(value: unknown, random: Random, places: number): unknown {
  let copy = structuredClone(value)
  for (let n = 0; n < places; n++) {
    const all = placesOf(copy)
    if (all.length === 0 || random() < 0.05) {
      copy = oddValue(random)
      continue
    }
    const [holder, key] = oneOf(random, all)
    const how = random()
    if (how < 0.2) delete holder[key]
    else holder[how < 0.35 ? oneOf(random, oddNames) : key] = oddValue(random)
  }
  return copy
}

function placesOf(value: unknown): [holder: Record<string, unknown>, key: string][] {
  if (typeof value !== 'object' || value === null) return []
  const holder = value as Record<string, unknown>
  return Object.keys(holder).flatMap((key) => [[holder, key] as [typeof holder, string], ...placesOf(holder[key])])
}
