import type { Operation, Schema } from './openapi-types.ts'

/** A JSON body that the route takes, made of its schema's examples. */
export function bodyOf(operation: Operation): unknown {
  const schema = operation.requestBody?.content['application/json']?.schema
  return schema === undefined ? undefined : exampleOf(schema)
}

function exampleOf(schema: Schema): unknown {
  if (schema.example !== undefined) return schema.example
  if (schema.default !== undefined) return schema.default
  if (Array.isArray(schema.enum)) return schema.enum[0]
  const [choice] = (schema.anyOf ?? schema.oneOf ?? []) as Schema[]
  if (choice !== undefined) return exampleOf(choice)
  switch ([schema.type].flat()[0]) {
    case 'object':
      return exampleOfObject(schema)
    case 'array':
      return Number(schema.minItems ?? 0) > 0 ? [exampleOf((schema.items ?? {}) as Schema)] : []
    case 'string':
      return schema.format === 'uuid' ? '{{$guid}}' : 'text'
    case 'integer':
    case 'number':
      return schema.minimum ?? 0
    case 'boolean':
      return true
    default:
      return null
  }
}

// Optional fields without an example stay out: a made-up value could be refused.
function exampleOfObject(schema: Schema): object {
  const required = new Set((schema.required ?? []) as string[])
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>)
  const shown = properties.filter(([name, property]) => required.has(name) || property.example !== undefined)
  return Object.fromEntries(shown.map(([name, property]) => [name, exampleOf(property)]))
}
