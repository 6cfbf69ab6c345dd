/** A schema in those words of JSON Schema that every client reads: some map it onto a language model's own, smaller one. */

type Schema = Record<string, unknown>

/** Of OpenAPI, or for our own documents. */
const foreign = ['example', 'discriminator', 'x-published']
/** What an answer cannot exceed matters to nobody who reads it, and is a fifth of the whole. */
const bounds = ['minLength', 'maxLength', 'minimum', 'maximum', 'minItems', 'maxItems', 'pattern']

export const plainInput = (schema: object): Schema => plain({ ...schema }, new Set(foreign))
export const plainOutput = (schema: object): Schema => plain({ ...schema }, new Set([...foreign, ...bounds]))

function plain(schema: Schema, dropped: ReadonlySet<string>): Schema {
  const words = Object.entries(schema).filter(([word]) => !dropped.has(word))
  return withOneType(Object.fromEntries(words.map(([word, value]) => [word, plainPart(word, value, dropped)])))
}

function plainPart(word: string, value: unknown, dropped: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((each) => (isSchema(each) ? plain(each, dropped) : each))
  if (!isSchema(value)) return value
  if (word !== 'properties' && word !== 'patternProperties') return plain(value, dropped)
  // Here the words are names of fields.
  const fields = Object.entries(value).filter((field): field is [string, Schema] => isSchema(field[1]))
  return Object.fromEntries(fields.map(([name, field]) => [name, plain(field, dropped)]))
}

/** `{"type": ["string", "null"]}` is JSON Schema, and less read than a branch for each type. */
function withOneType(schema: Schema): Schema {
  const { type: types, title, description, enum: values, ...rest } = schema
  if (!Array.isArray(types)) return schema
  const named = Array.isArray(values) ? { enum: values.filter((value) => value !== null) } : {}
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    anyOf: types.map((type) => (type === 'null' ? { type } : { type, ...named, ...rest })),
  }
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
