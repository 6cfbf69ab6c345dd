import type { Answer, Reference, Schema } from './openapi-types.ts'

/** What operations share, by the names under which `components` has it. */
export interface Shared {
  schemas: Map<string, Schema>
  answers: Map<string, Answer>
}

/** Keeps an answer under its name. Throws when another answer has it. */
export function shareAnswer(shared: Shared, name: string, answer: Answer): Reference {
  const known = shared.answers.get(name) ?? answer
  if (!isSame(known, answer)) throw twice('answers', name)
  shared.answers.set(name, known)
  return { $ref: `#/components/responses/${name}` }
}

/**
 * Keeps a titled schema under its title, and refers to it. Where only the words about it are others, they stand beside
 * the reference; where it may be null as well, so does that. Throws when a schema of another shape has the title.
 */
export function shareSchema(shared: Shared, schema: Schema & { title: string }): Schema {
  const { whole, isNullable } = withoutNull(schema)
  const name = schema.title.replaceAll(/[^A-Za-z0-9]+/g, '')
  const known = shared.schemas.get(name) ?? whole
  if (!isSame(withoutWords(known), withoutWords(whole))) throw twice('schemas', schema.title)
  shared.schemas.set(name, known)
  const reference = { $ref: `#/components/schemas/${name}` }
  return { ...(isNullable ? { anyOf: [reference, { type: 'null' }] } : reference), ...ownWords(whole, known) }
}

const twice = (kind: string, name: string): Error =>
  new Error(`Two different ${kind} have the title ${name}: give one of them another`)

function withoutNull(schema: Schema): { whole: Schema; isNullable: boolean } {
  const types = [schema.type].flat()
  if (!types.includes('null') || types.length === 1) return { whole: schema, isNullable: false }
  const others = types.filter((type) => type !== 'null')
  const whole = { ...schema, type: others.length === 1 ? others[0] : others }
  const values = Array.isArray(schema.enum) ? { enum: schema.enum.filter((value) => value !== null) } : {}
  return { whole: { ...whole, ...values }, isNullable: true }
}

function withoutWords({ description: _description, examples: _examples, ...shape }: Schema): Schema {
  return shape
}

function ownWords(schema: Schema, known: Schema): Schema {
  const words = ['description', 'examples'].filter((word) => schema[word] !== undefined)
  const own = words.filter((word) => !isSame(schema[word], known[word]))
  return Object.fromEntries(own.map((word) => [word, schema[word]]))
}

function isSame(one: unknown, other: unknown): boolean {
  return (
    one === other ||
    JSON.stringify(one) === JSON.stringify(other) ||
    JSON.stringify(inOneOrder(one)) === JSON.stringify(inOneOrder(other))
  )
}

// The order of keywords says nothing.
function inOneOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOneOrder)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, one]): [string, unknown] => [key, inOneOrder(one)])
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}
