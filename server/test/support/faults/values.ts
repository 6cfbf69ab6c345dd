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

export const below = (random: Random, n: number): number => Math.floor(random() * n)

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

const deepest = 6

/** Makes a value of the schema, as far as a schema says what fits. */
export function madeOf(schema: Schema, making: Making, name = '', depth = 0): unknown {
  const { random } = making
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum)) return oneOf(random, schema.enum)
  const choices = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined
  if (choices !== undefined) {
    const { anyOf: _any, oneOf: _one, ...shared } = schema
    const chosen = madeOf(oneOf(random, choices), making, name, depth + 1)
    if (shared.properties === undefined || !isObject(chosen)) return chosen
    return { ...(madeOf(shared, making, name, depth + 1) as object), ...chosen }
  }
  if (Array.isArray(schema.allOf)) {
    return Object.assign({}, ...schema.allOf.map((part: Schema) => madeOf(part, making, name, depth + 1)))
  }
  const example = schema.example ?? (schema.examples as unknown[] | undefined)?.[0]
  if (example !== undefined && typeof example !== 'string' && random() < 0.3) return example
  const type = Array.isArray(schema.type) ? oneOf(random, schema.type as string[]) : schema.type
  switch (type) {
    case 'object':
      return objectOf(schema, making, depth)
    case 'array':
      return arrayOf(schema, making, name, depth)
    case 'string':
      return textOf(schema, making, name)
    case 'integer':
    case 'number':
      return numberOf(schema, random, type === 'integer')
    case 'boolean':
      return random() < 0.5
    case 'null':
      return null
    default:
      return 'properties' in schema ? objectOf(schema, making, depth) : making.word
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function objectOf(schema: Schema, making: Making, depth: number): Record<string, unknown> {
  const required = new Set((schema.required as string[] | undefined) ?? [])
  const made: Record<string, unknown> = {}
  for (const [name, field] of Object.entries((schema.properties as Record<string, Schema> | undefined) ?? {})) {
    const isWanted = required.has(name) || (depth < deepest && making.random() < making.share)
    if (isWanted) made[name] = madeOf(field, making, name, depth + 1)
  }
  const patterns = Object.entries((schema.patternProperties as Record<string, Schema> | undefined) ?? {})
  if (patterns.length > 0 && making.random() < 0.3) {
    const [pattern, field] = oneOf(making.random, patterns)
    made[matching(pattern, making.random)] = madeOf(field, making, pattern, depth + 1)
  }
  return made
}

function arrayOf(
  { minItems = 0, maxItems = 3, items }: Schema,
  making: Making,
  name: string,
  depth: number,
): unknown[] {
  const most = Math.min(Number(maxItems), 3)
  const count = Math.max(Number(minItems), Math.min(most, below(making.random, most + 1)))
  return Array.from({ length: count }, () => madeOf((items as Schema | undefined) ?? {}, making, name, depth + 1))
}

const noon = Date.parse('2026-03-10T12:00:00.000Z')

function textOf(schema: Schema, making: Making, name: string): string {
  const { random, word } = making
  if (schema.format === 'uuid' || /(?:^id|[a-z]Ids?|_ids?)$/.test(name)) return making.idFor(name)
  const days = below(random, 60) - 30
  if (schema.format === 'date-time') return new Date(noon + days * 86_400_000).toISOString()
  if (schema.format === 'date') return new Date(noon + days * 86_400_000).toISOString().slice(0, 10)
  if (/phone/i.test(name)) return `55819${10_000_000 + below(random, 89_999_999)}`
  if (/e?mail/i.test(name)) return `${word}.${below(random, 1e6)}@example.com`
  if (/url$/i.test(name)) return `http://127.0.0.1:9/${word}`
  const example = schema.example ?? schema.default ?? (schema.examples as unknown[] | undefined)?.[0]
  if (typeof example === 'string' && random() < 0.5) return example
  if (typeof schema.pattern === 'string' && schema.pattern !== '\\S') return matching(schema.pattern, random)
  const text = `${word} ${below(random, 1e6)} ${random() < 0.3 ? 'João 李明 🙂' : ''}`.trim()
  return text.slice(0, Number(schema.maxLength ?? 200)).padEnd(Number(schema.minLength ?? 0), 'x')
}

function matching(pattern: string, random: Random): string {
  const seed = below(random, 2 ** 30)
  return fc.sample(fc.stringMatching(new RegExp(pattern)), { numRuns: 1, seed })[0] ?? ''
}

function numberOf(schema: Schema, random: Random, isWhole: boolean): number {
  const least = Number(schema.minimum ?? schema.exclusiveMinimum ?? 0)
  const most = Number(schema.maximum ?? least + 1000)
  if (random() < 0.2) return random() < 0.5 ? least : most
  const between = least + random() * Math.min(most - least, 1000)
  return isWhole ? Math.floor(between) : Math.round(between * 100) / 100
}

const longText = 'x'.repeat(70_000)
const odd: readonly unknown[] = [
  ...['', ' ', '\u0000', '\ud800', '🙂', '\u202e', "'; drop table leads; --", '%00', '%', '..%2f..%2f', 'null', '-1'],
  ...['{{1}}', '$' + '{1}', '<script>', '\\', '"', 'İ'.repeat(300), 'ﷺ'.repeat(300), longText, '٣'.repeat(10)],
  ...[null, true, false, 0, -0, -1, 1.5, 1e15, 2 ** 53, 5e-324, -1e308, 1e308],
  ...[[], {}, [[]], [null], { $ne: null }, Array(300).fill('a'), { __proto__: null, constructor: { prototype: 1 } }],
  ...['00000000-0000-7000-8000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '9999-12-31T23:59:59.999Z'],
  ...[
    '0000-01-01T00:00:00Z',
    '2026-02-30',
    '-271821-04-20T00:00:00.000Z',
    'http://169.254.169.254/',
    'file:///etc/passwd',
  ],
]

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
    else if (how < 0.35)
      holder[oneOf(random, ['id', 'constructor', 'workspaceId', '', 'k_x', 'a'.repeat(300)])] = oddValue(random)
    else holder[key] = oddValue(random)
  }
  return copy
}

function placesOf(value: unknown): [holder: Record<string, unknown>, key: string][] {
  if (typeof value !== 'object' || value === null) return []
  const holder = value as Record<string, unknown>
  return Object.keys(holder).flatMap(
    (key) => [[holder, key] as const, ...placesOf(holder[key])] as [typeof holder, string][],
  )
}
