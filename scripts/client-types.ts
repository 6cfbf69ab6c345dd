import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { comment, type Schema, typeName, typesOf } from './schema-types.ts'

// Generates the types of the package in client/: one for each object of the contract that API keys can access, and the
// input and output of each operation.

interface Parameter {
  in: string
  name: string
  required?: boolean
  description?: string
  schema: Schema
}
interface Reference {
  $ref: string
}
type Content = Record<string, { schema: Schema }>
interface Operation {
  operationId: string
  parameters?: (Parameter | Reference)[]
  requestBody?: { content: Content }
  responses: Record<string, { content?: Content } | Reference>
}
interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

const json = 'application/json'
// Query fields without a fixed name are left out; request bodies have a field for the same filter.
const isNamed = ({ schema }: Parameter): boolean => !('patternProperties' in schema)

/** Returns the types of every operation below the path, and of every object that they refer to. */
function typesBelow(document: Document, face: string): string {
  const operations = Object.entries(document.paths)
    .filter(([path]) => path.startsWith(face))
    .flatMap(([, item]) => Object.values(item))
  const { schemas } = document.components
  const written = operations.flatMap(operationTypes)
  const objects = reached(
    written.map(([, schema]) => schema),
    schemas,
  )
  const all: [string, Schema][] = [...objects, ...written]
  return `${all.map(([name, schema]) => `${comment(schema, '')}export type ${typeName(name)} = ${typesOf(schema, '')}\n`).join('\n')}`
}

function operationTypes(operation: Operation): [string, Schema][] {
  const name = operation.operationId.replace(/^./, (first) => first.toUpperCase())
  const found: [string, Schema][] = []
  const query = (operation.parameters ?? [])
    .filter((one): one is Parameter => !('$ref' in one))
    .filter((one) => one.in === 'query' && isNamed(one))
  if (query.length > 0) found.push([`${name}Query`, queryObject(query)])
  const body = operation.requestBody?.content[json]?.schema
  if (body !== undefined) found.push([`${name}Body`, body])
  const answers = Object.entries(operation.responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, answer]) => ('$ref' in answer ? [] : [answer.content?.[json]?.schema]))
    .filter((schema) => schema !== undefined)
  const [answer] = answers
  if (answer !== undefined) found.push([`${name}Answer`, answer])
  return found
}

const queryObject = (parameters: Parameter[]): Schema => ({
  type: 'object',
  properties: Object.fromEntries(
    parameters.map(({ name, description, schema }) => [
      name,
      { ...schema, ...(description === undefined ? {} : { description }) },
    ]),
  ),
  required: parameters.filter(({ required }) => required === true).map(({ name }) => name),
  additionalProperties: false,
})

/** Returns the schemas that are referred to, directly or indirectly, in the document's order. */
function reached(from: Schema[], schemas: Record<string, Schema>): [string, Schema][] {
  const names = new Set<string>()
  const visit = (schema: unknown): void => {
    for (const [, name = ''] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (names.has(name)) continue
      names.add(name)
      visit(schemas[name])
    }
  }
  from.forEach(visit)
  return Object.entries(schemas).filter(([name]) => names.has(name))
}

const source = fileURLToPath(new URL('../docs/openapi.json', import.meta.url))
const target = fileURLToPath(new URL('../client/src/types.ts', import.meta.url))

/** Returns the generated types, from the written OpenAPI document. */
export async function clientTypes(): Promise<string> {
  const document = JSON.parse(await readFile(source, 'utf8')) as Document
  return `// Written by \`npm run contract\` from docs/openapi.json.\n\n${typesBelow(document, '/api/v1/')}`
}

export async function writeClientTypes(): Promise<void> {
  await writeFile(target, await clientTypes())
}

/** Returns whether the generated types match the document. */
export async function clientTypesAreCurrent(): Promise<boolean> {
  return (await readFile(target, 'utf8').catch(() => '')) === (await clientTypes())
}
