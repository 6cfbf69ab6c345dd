/** The part of JSON Schema that our documents use. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  patternProperties?: Record<string, Schema>
  items?: Schema
  description?: string
}

// Avoids shadowing global names.
const renamed: Record<string, string> = { Error: 'ErrorBody', Event: 'ParleyEvent' }

export const typeName = (title: string): string => renamed[title] ?? title

/** Returns the TypeScript type of a schema as readable text; refers to objects by name. */
export function typesOf(schema: Schema, indent: string): string {
  const { $ref, enum: values, anyOf, oneOf, allOf, type } = schema
  const inner = (one: Schema): string => typesOf(one, indent)
  if ($ref !== undefined) return typeName($ref.split('/').at(-1) ?? 'unknown')
  if ('const' in schema) return literal(schema.const)
  if (values !== undefined) return union(values.map(literal))
  if (anyOf !== undefined || oneOf !== undefined) return union((anyOf ?? oneOf ?? []).map(inner))
  if (allOf !== undefined) return allOf.map((one) => `(${inner(one)})`).join(' & ')
  if (Array.isArray(type)) return union(type.map((one) => inner({ ...schema, type: one })))
  switch (type) {
    case 'integer':
      return 'number'
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return type
    case 'array':
      return arrayOf(schema.items === undefined ? 'unknown' : inner(schema.items))
    default:
      return type === 'object' || schema.properties !== undefined ? objectType(schema, indent) : 'unknown'
  }
}

function objectType(schema: Schema, indent: string): string {
  const { properties = {}, required = [] } = schema
  const deeper = `${indent}  `
  const fields = Object.entries(properties).map(([name, field]) => {
    const optional = required.includes(name) ? '' : '?'
    return `${comment(field, deeper)}${deeper}${quoted(name)}${optional}: ${typesOf(field, deeper)}`
  })
  if (fields.length > 0) return `{\n${fields.join('\n')}\n${indent}}`
  const { additionalProperties, patternProperties = {} } = schema
  if (additionalProperties === false && Object.keys(patternProperties).length === 0) return 'Record<string, never>'
  const [others = additionalProperties] = Object.values(patternProperties)
  return `Record<string, ${typeof others === 'object' ? typesOf(others, indent) : 'unknown'}>`
}

/** Returns the schema's description as a doc comment. */
export function comment({ description }: Schema, indent: string): string {
  if (description === undefined) return ''
  const lines = description.replaceAll('*/', '*\\/').split('\n')
  if (lines.length === 1) return `${indent}/** ${description.replaceAll('*/', '*\\/')} */\n`
  return `${indent}/**\n${lines.map((line) => `${indent} *${line === '' ? '' : ` ${line}`}\n`).join('')}${indent} */\n`
}

const union = (types: string[]): string => [...new Set(types)].join(' | ') || 'never'
const arrayOf = (type: string): string => (/^\w+$/.test(type) ? `${type}[]` : `(${type})[]`)
const literal = (value: unknown): string =>
  typeof value === 'string' ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` : JSON.stringify(value)
const quoted = (name: string): string => (/^[a-zA-Z_$][\w$]*$/.test(name) ? name : `'${name}'`)
