import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Schema } from './schema-types.ts'

// Generates the types of the team API for the web app in the shape that openapi-fetch expects, and the values of its
// enums. Existing generators need a TypeScript 5 beside ours, and our documents use only a small part of JSON Schema.

interface Parameter {
  in: string
  name: string
  required?: boolean
  schema: Schema
}
interface Reference {
  $ref: string
}
interface Answer {
  content?: Record<string, { schema: Schema }>
}
interface Operation {
  parameters?: (Parameter | Reference)[]
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> }
  responses: Record<string, Answer | Reference>
}
interface Document {
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, Schema>
    responses: Record<string, Answer>
    parameters: Record<string, Parameter>
  }
}

const source = fileURLToPath(new URL('../docs/openapi.json', import.meta.url))
const target = fileURLToPath(new URL('../web/src/api/schema.ts', import.meta.url))
const face = '/api/team/'

/** Returns the generated types, from the written OpenAPI document. */
export async function apiTypes(): Promise<string> {
  const document = JSON.parse(await readFile(source, 'utf8')) as Document
  const paths = Object.entries(document.paths).filter(([path]) => path.startsWith(face))
  const { schemas, responses, parameters } = document.components
  return `// Written by \`npm run contract\` from docs/openapi.json.

export interface paths {
${paths.map(([path, item]) => `  ${quote(path)}: ${pathType(item, parameters)}`).join('\n')}
}

export interface components {
  schemas: {
${lines(schemas, typeOf)}
  }
  responses: {
${lines(responses, answerType)}
  }
}

${Object.entries(schemas).map(valuesOf).join('')}
`
}

/** Exports the values of a named enum, so that the app does not repeat them. */
function valuesOf([name, schema]: [string, Schema]): string {
  if (schema.enum === undefined) return ''
  const constant = `${name.charAt(0).toLowerCase()}${name.slice(1)}Values`
  return `\nexport const ${constant} = [${schema.enum.map(literal).join(', ')}] as const`
}

const lines = <T>(parts: Record<string, T>, write: (part: T) => string): string =>
  Object.entries(parts)
    .map(([name, part]) => `    ${quote(name)}: ${write(part)}`)
    .join('\n')

export async function writeApiTypes(): Promise<void> {
  await writeFile(target, await apiTypes())
}

/** Returns whether the generated types match the document. */
export async function apiTypesAreCurrent(): Promise<boolean> {
  return (await readFile(target, 'utf8').catch(() => '')) === (await apiTypes())
}

const pathType = (item: Record<string, Operation>, shared: Record<string, Parameter>): string =>
  `{ ${Object.entries(item)
    .map(([method, operation]) => `${method}: ${operationType(operation, shared)}`)
    .join('; ')} }`

function operationType(operation: Operation, shared: Record<string, Parameter>): string {
  const { requestBody, responses } = operation
  const parameters = (operation.parameters ?? []).map((one) => ('$ref' in one ? shared[nameIn(one)] : one))
  const path = parametersIn(parameters, 'path')
  const query = parametersIn(parameters, 'query')
  const body =
    requestBody === undefined
      ? 'requestBody?: never'
      : `requestBody${requestBody.required === true ? '' : '?'}: { content: ${contentType(requestBody.content)} }`
  const answers = Object.entries(responses).map(([status, answer]) => `${status}: ${answerType(answer)}`)
  return `{ parameters: { path${path}; query${query}; header?: Record<string, string> }; ${body}; responses: { ${answers.join('; ')} } }`
}

function answerType(answer: Answer | Reference): string {
  if ('$ref' in answer) return `components['responses'][${quote(nameIn(answer))}]`
  const { content = {} } = answer
  const type = Object.keys(content).length === 0 ? 'Record<string, never>' : contentType(content)
  return `{ headers: Record<string, unknown>; content: ${type} }`
}

const nameIn = ({ $ref }: Reference): string => $ref.split('/').at(-1) ?? ''

function parametersIn(parameters: (Parameter | undefined)[], place: string): string {
  const some = parameters.filter((one) => one !== undefined).filter((one) => one.in === place)
  if (some.length === 0) return '?: never'
  const fields = some.map(({ name, required, schema }) => `${quote(name)}${required ? '' : '?'}: ${typeOf(schema)}`)
  return `${some.some(({ required }) => required) ? '' : '?'}: { ${fields.join('; ')} }`
}

const contentType = (content: Record<string, { schema: Schema }>): string =>
  `{ ${Object.entries(content)
    .map(([media, { schema }]) => `${quote(media)}: ${typeOf(schema)}`)
    .join('; ')} }`

function typeOf(schema: Schema): string {
  const { $ref, enum: values, anyOf, oneOf, allOf, type } = schema
  if ($ref !== undefined) return `components['schemas'][${quote(nameIn({ $ref }))}]`
  if ('const' in schema) return literal(schema.const)
  if (values !== undefined) return union(values.map(literal))
  if (anyOf !== undefined || oneOf !== undefined) return union((anyOf ?? oneOf ?? []).map(typeOf))
  if (allOf !== undefined) return allOf.map((one) => `(${typeOf(one)})`).join(' & ')
  if (Array.isArray(type)) return union(type.map((one) => typeOf({ ...schema, type: one })))
  switch (type) {
    case 'string':
      return 'string'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'null':
      return 'null'
    case 'array':
      return `(${schema.items === undefined ? 'unknown' : typeOf(schema.items)})[]`
    case 'object':
      return objectType(schema)
    default:
      return schema.properties === undefined ? 'unknown' : objectType(schema)
  }
}

function objectType({ properties = {}, required = [], additionalProperties }: Schema): string {
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${quote(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  )
  if (typeof additionalProperties === 'object' && fields.length === 0)
    return `Record<string, ${typeOf(additionalProperties)}>`
  if (fields.length === 0) return 'Record<string, unknown>'
  return `{ ${fields.join('; ')} }`
}

const union = (types: string[]): string => `(${[...new Set(types)].join(' | ')})`
const literal = (value: unknown): string => JSON.stringify(value)
const quote = (name: string): string => `'${name.replaceAll("'", "\\'")}'`
