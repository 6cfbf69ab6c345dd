import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { AgentTool } from '../server/src/agents/tool.ts'
import { agentTools } from '../server/src/agents/tools/tools.ts'
import { clientTypes } from './client-types.ts'
import { comment, type Schema, typesOf } from './schema-types.ts'

// Generates the agent API of the package in client/: a method and its types for each tool.

const target = fileURLToPath(new URL('../client/src/agent-calls.ts', import.meta.url))
const waitsMs = 45_000
const sendsMs = 90_000

/** Returns the generated code, from the list of tools; reuses types of the contract for objects with the same title. */
function agentClient(all: readonly AgentTool[], contract: string): string {
  const objects = new Map<string, Schema>()
  const outputs = all.map(({ output }) => named(plain(output), objects))
  const inputs = all.map(({ name, input }): [string, Schema] => [inputName(name), named(plain(input), objects)])
  const shared = [...objects].filter(([name]) => contract.includes(`export type ${name} = `)).map(([name]) => name)
  const unlike = shared.find((name) => !contract.includes(written([name, objects.get(name) ?? {}])))
  if (unlike !== undefined) throw new Error(`The contract has a different object with the title ${unlike}`)
  for (const name of shared) objects.delete(name)
  const types = [...[...objects].sort(([a], [b]) => (a < b ? -1 : 1)), ...inputs]
  return `// Written by \`npm run contract\` from the verbs of the interface for agents.
import { type CallTool, callTool } from './call-tool.ts'
import type { Caller, CallOptions } from './call.ts'
${shared.length === 0 ? '' : `import type { ${shared.sort().join(', ')} } from './types.ts'\n`}
${types.map(written).join('\n')}
/** All that an agent can do. Each answer has \`next\`: what can be done now, in words for a model. */
export class AgentCalls {
  readonly #callTool: CallTool

  constructor(call: Caller) {
    this.#callTool = callTool(call)
  }
${all.map((tool, i) => method(tool, outputs[i] ?? {})).join('')}}
`
}

const written = ([name, schema]: [string, Schema]): string =>
  `${comment(schema, '')}export type ${name} = ${typesOf(schema, '')}\n`

function method(tool: AgentTool, output: Schema): string {
  const { name, description, http, input, hints } = tool
  const optional = plain(input).required === undefined ? ' = {}' : ''
  const timeoutMs = name === 'wait_for_work' ? waitsMs : hints.isDestructive ? sendsMs : null
  const route = [
    `method: '${http.method}'`,
    `path: '${http.path}'`,
    `isRepeatable: ${hints.isReadOnly || hints.isIdempotent}`,
    ...(timeoutMs === null ? [] : [`timeoutMs: ${timeoutMs}`]),
  ]
  return `
${comment({ description }, '  ')}  ${camelCase(name)}(input: ${inputName(name)}${optional}, options?: CallOptions): Promise<${typesOf(output, '')}> {
    return this.#callTool({ ${route.join(', ')} }, input, options)
  }
`
}

const plain = (schema: object): Schema => JSON.parse(JSON.stringify(schema)) as Schema

/** Replaces each object that has a title with a reference, and collects it in `objects`. */
function named(schema: Schema & { title?: string }, objects: Map<string, Schema>): Schema {
  const { title, ...rest } = mapped(schema, (inner) => named(inner, objects))
  const types = [rest.type ?? []].flat()
  if (title === undefined || !types.includes('object')) return rest
  const object = { ...rest, type: 'object' }
  const known = objects.get(title)
  if (known !== undefined && typesOf(known, '') !== typesOf(object, ''))
    throw new Error(`Two objects have the title ${title}`)
  objects.set(title, known ?? object)
  const described = rest.description === undefined ? {} : { description: rest.description }
  const reference = { $ref: title, ...described }
  return types.includes('null') ? { anyOf: [reference, { type: 'null' }], ...described } : reference
}

function mapped(schema: Schema & { title?: string }, change: (inner: Schema) => Schema) {
  const each = (some: Record<string, Schema> | undefined) =>
    some && Object.fromEntries(Object.entries(some).map(([name, inner]) => [name, change(inner)]))
  const { properties, patternProperties, items, anyOf, oneOf, allOf } = schema
  const changed = {
    properties: each(properties),
    patternProperties: each(patternProperties),
    items: items && change(items),
    anyOf: anyOf?.map(change),
    oneOf: oneOf?.map(change),
    allOf: allOf?.map(change),
  }
  return { ...schema, ...Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== undefined)) }
}

const camelCase = (name: string): string => name.replace(/_(.)/g, (_all, letter: string) => letter.toUpperCase())
const inputName = (name: string): string => `${camelCase(name).replace(/^./, (first) => first.toUpperCase())}Input`

const current = async (): Promise<string> => agentClient(agentTools, await clientTypes())

export async function writeAgentClient(): Promise<void> {
  await writeFile(target, await current())
}

/** Returns whether the generated file matches the tools. */
export async function agentClientIsCurrent(): Promise<boolean> {
  return (await readFile(target, 'utf8').catch(() => '')) === (await current())
}
