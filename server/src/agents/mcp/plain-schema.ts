import { visible } from '../../base/schema-types.ts'

/**
 * Schemas of tools, in those words of JSON Schema that every client reads: some map it onto a language model's own, smaller
 * one. All of them are before a model in each of its turns, so they say no more than it needs.
 */

type Schema = Record<string, unknown>

/** Keywords of OpenAPI, or for our own documents. */
const foreign = new Set(['title', 'example', 'discriminator', 'x-published'])

/** The patterns of texts in printable ASCII. */
const isAscii = /^\^\[\\x2[01]-\\x7e\]\+\$$/

/** Keywords that a model learns nothing by: a refusal says them, should it ever come to one. */
const isNoise: Record<string, (value: unknown, schema: Schema) => boolean> = {
  pattern: (value) => value === visible || isAscii.test(String(value)),
  minLength: (value) => value === 1,
  maxLength: (_, { format, pattern }) => format !== undefined || /\{\d+,\d+\}\$$/.test(String(pattern)),
  maximum: (value) => Number(value) > 1e9,
  additionalProperties: (value) => value === false,
}

/** Returns the schema of what a tool takes, with its limits. That it takes nothing else is said once, of the whole. */
export const plainInput = (schema: object): Schema => ({ ...plain({ ...schema }), additionalProperties: false })

function plain(schema: Schema): Schema {
  const kept = Object.entries(schema).filter(([word, value]) => !foreign.has(word) && !isNoise[word]?.(value, schema))
  return withOneType(withAnyKey(Object.fromEntries(kept.map(([word, value]) => [word, plainPart(word, value)]))))
}

function plainPart(word: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => (isSchema(each) ? plain(each) : each))
  if (!isSchema(value)) return value
  if (word !== 'properties' && word !== 'patternProperties') return plain(value)
  // Here the words are names of fields.
  const fields = Object.entries(value).filter((field): field is [string, Schema] => isSchema(field[1]))
  return Object.fromEntries(fields.map(([name, field]) => [name, plain(field)]))
}

/** Where each name is one that the caller chooses. */
function withAnyKey({ patternProperties, ...schema }: Schema): Schema {
  if (!isSchema(patternProperties)) return schema
  const [each] = Object.values(patternProperties)
  return { ...schema, additionalProperties: each }
}

/** `{"type": ["string", "null"]}` is JSON Schema, and less read than a branch for each type. */
function withOneType(schema: Schema): Schema {
  const { type: types, description, enum: values, ...rest } = schema
  if (!Array.isArray(types)) return schema
  const named = Array.isArray(values) ? { enum: values.filter((value) => value !== null) } : {}
  const hasLimits = (type: unknown) => type !== 'null' && type !== 'boolean'
  return {
    ...(description !== undefined && { description }),
    anyOf: types.map((type) => (hasLimits(type) ? { type, ...named, ...rest } : { type })),
  }
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
