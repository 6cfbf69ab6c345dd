import { isError } from './openapi-error.ts'
import { type Shared, shareSchema } from './openapi-shared.ts'
import type { Schema } from './openapi-types.ts'

const listKeywords = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const mapKeywords = new Set(['properties', 'patternProperties', '$defs'])
const schemaKeywords = new Set(['items', 'additionalProperties', 'not', 'propertyNames', 'contains'])

export interface Place {
  shared: Shared
  /** An answer leaves nothing out because it has a default; a request may. */
  part: 'request' | 'answer'
}

/** A schema as it is published: `examples` as the standard spells it, errors and titled ones by reference. */
export function publish(schema: Schema, place: Place): Schema {
  if (schema['x-published'] !== undefined) return publish(schema['x-published'] as Schema, place)
  if (isError(schema)) return { $ref: '#/components/schemas/Error' }
  const result: Schema = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'example') result.examples = [value]
    else if (listKeywords.has(keyword)) result[keyword] = (value as Schema[]).map((each) => publish(each, place))
    else if (mapKeywords.has(keyword)) result[keyword] = publishEach(value as Record<string, Schema>, place)
    else if (schemaKeywords.has(keyword) && typeof value === 'object') result[keyword] = publish(value as Schema, place)
    else result[keyword] = value
  }
  const whole = withoutDefaults(nameChoices(result, place.shared), place.part)
  return typeof whole.title === 'string' ? shareSchema(place.shared, { ...whole, title: whole.title }) : whole
}

function publishEach(properties: Record<string, Schema>, place: Place): Record<string, Schema> {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, publish(schema, place)]))
}

// A field with a default need not be sent. Generators make it a required part of their types, so words say it instead.
function withoutDefaults(schema: Schema, part: Place['part']): Schema {
  const properties = (schema.properties ?? {}) as Record<string, Schema>
  const names = Object.keys(properties).filter((name) => properties[name]?.default !== undefined)
  if (names.length === 0) return schema
  const said = Object.entries(properties).map(([name, property]) => [name, sayDefault(property, part)])
  const required = (schema.required ?? []) as string[]
  const needed = part === 'request' ? required.filter((name) => !names.includes(name)) : required
  return { ...schema, properties: Object.fromEntries(said), required: needed }
}

function sayDefault({ default: value, ...property }: Schema, part: Place['part']): Schema {
  if (value === undefined || part === 'answer') return property
  const words = `Default: \`${JSON.stringify(value)}\`.`
  return { ...property, description: property.description === undefined ? words : `${property.description} ${words}` }
}

// Names are not those of the values that choose, so that a discriminator has to tell which is which.
function nameChoices(schema: Schema, shared: Shared): Schema {
  const { discriminator, oneOf } = schema as { discriminator?: { propertyName: string }; oneOf?: Schema[] }
  if (discriminator === undefined || oneOf === undefined) return schema
  const mapping = oneOf.map(({ $ref }) => {
    const choice = shared.schemas.get(String($ref).split('/').at(-1) ?? '')
    const properties = (choice?.properties ?? {}) as Record<string, { const?: unknown; enum?: unknown[] }>
    const { const: value, enum: values } = properties[discriminator.propertyName] ?? {}
    return [value ?? values?.[0], $ref]
  })
  return { ...schema, discriminator: { ...discriminator, mapping: Object.fromEntries(mapping) } }
}
