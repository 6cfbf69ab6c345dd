import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TObject } from 'typebox'
import { agentTools } from '../../../src/agents/tools/all-tools.ts'
import { uploadFile } from '../../../src/agents/tools/upload-file.ts'
import { loadSource } from '../../support/n8n/loaded-nodes.ts'
import type { Property } from '../../support/n8n/node-type.ts'

interface Operation {
  resource: string
  value: string
  method: string
  path: string
  fields: Property[]
  more?: Property[]
  hasIdempotencyKey?: boolean
  list?: string
  isPaged?: boolean
  toRequest?(fields: object): Record<string, unknown>
}

async function allOperations(): Promise<Operation[]> {
  return (await loadSource('nodes/Parley/operations/properties.ts')).operations
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Fields for the file to upload. */
const ofFiles = ['binary_property_name', 'kind', 'file_name']

/** Request fields of an operation, by their API names. */
function namesOf({ fields, more = [], hasIdempotencyKey, isPaged, toRequest }: Operation): string[] {
  const filled = [...fields, ...more].map(({ name }) => [
    snakeCase(name),
    name === 'customFields' ? { field: [{ key: 'plan', value: 'gold' }] } : 'a',
  ])
  const withOne: Record<string, unknown> = Object.fromEntries(filled)
  if (withOne.binary_property_name !== undefined) {
    for (const name of ofFiles) delete withOne[name]
    withOne.upload_id = 'a'
  }
  const added = [hasIdempotencyKey ? ['idempotency_key'] : [], isPaged ? ['limit', 'cursor'] : []].flat()
  return [...Object.keys(toRequest?.(withOne) ?? withOne), ...added]
}

test('each operation matches a tool of the agent API with all required fields', async () => {
  const seen = new Set<string>()
  for (const operation of await allOperations()) {
    const { resource, value, method, path, list } = operation
    const label = `${resource} ${value}`
    const tool = agentTools.find((one) => one.http.method === method && one.http.path === path)
    assert.ok(tool !== undefined, `${label} is a tool`)
    seen.add(tool.name)
    const { properties, required = [] } = tool.input as TObject & { required?: string[] }
    const names = namesOf(operation)
    assert.deepEqual(
      names.filter((name) => properties[name] === undefined),
      [],
      `${label}: the tool has these fields`,
    )
    assert.deepEqual(
      required.filter((name) => !names.includes(name)),
      [],
      `${label}: the node has what the tool needs`,
    )
    assert.equal('idempotency_key' in properties, operation.hasIdempotencyKey === true, `${label}: done once`)
    if (list !== undefined) assert.ok(isList(tool.output.properties[list]), `${label}: ${list} is a list`)
  }
  // The trigger waits for work, and answers with files upload them.
  assert.deepEqual(
    agentTools.map(({ name }) => name).filter((name) => !seen.has(name)),
    ['wait_for_work', 'upload_file'],
  )
})

test('all options of the node are accepted by the tool', async () => {
  for (const operation of await allOperations()) {
    const tool = agentTools.find(({ http }) => http.method === operation.method && http.path === operation.path)
    assert.ok(tool !== undefined)
    for (const field of [...operation.fields, ...(operation.more ?? [])]) {
      if (field.type !== 'options' || field.typeOptions !== undefined) continue
      const place = schemaOf(tool.input.properties, field.name)
      const taken = new Set(valuesOf(place))
      // Empty values are left out.
      const given = (field.options ?? []).map(({ value }) => value).filter((value) => value !== '')
      const unknown = given.filter((value) => !taken.has(value))
      assert.deepEqual(unknown, [], `${operation.resource} ${operation.value} ${field.name}`)
    }
  }
})

const isList = (schema: unknown): boolean => (schema as { type?: string } | undefined)?.type === 'array'

// biome-ignore lint/suspicious/noExplicitAny: schemas of every shape
function schemaOf(properties: any, field: string): unknown {
  if (field === 'matchBy') return properties.match.properties.by
  if (field === 'kind') return uploadFile.input.properties.kind
  const name = snakeCase(field)
  return properties[name] ?? properties.lead.properties[name]
}

/** Returns the enum values of a schema, without null. */
function valuesOf(schema: unknown): unknown[] {
  const { enum: values, anyOf = [], const: one } = schema as { enum?: unknown[]; anyOf?: unknown[]; const?: unknown }
  return [...(values ?? []), ...(one === undefined ? [] : [one]), ...anyOf.flatMap(valuesOf)]
}
