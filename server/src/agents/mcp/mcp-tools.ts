import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import type { Caller } from '../../auth/api-keys/caller.ts'
import { ApiError, InvalidInput } from '../../base/errors.ts'
import { visiblePattern } from '../../base/schema-types.ts'
import { compileCheck } from '../../base/validation.ts'
import { requireConversation } from '../../inbox/conversation/queries.ts'
import { openMedia } from '../../inbox/media/media-queries.ts'
import type { SendDeps } from '../../inbox/send/send-deps.ts'
import { createFileSlots, decryptChunks } from '../../inbox/team-api/files/send-file.ts'
import {
  type AgentDeps,
  type AgentTool,
  authorizeTool,
  canUse,
  maxInlineFileBytes,
  runTool,
  type ToolGuard,
} from '../define-tool.ts'
import { problemOf } from '../http/problem.ts'

const fileSlots = { ofMember: 2, ofWorkspace: 4, ofAll: 8 }

/** Returns the media type and the bytes in base64. Throws 404, 413 for a large file, and 429 at too many reads. */
type ReadFile = (caller: Caller, conversationId: string, fileId: string) => Promise<{ type: string; base64: string }>

/** Reads files of conversations for MCP clients, which cannot download them over HTTP. */
function fileReader(inbox: SendDeps): ReadFile {
  const withSlot = createFileSlots(fileSlots)
  return ({ workspaceId, keyId, connectionIds }, conversationId, fileId) =>
    withSlot({ workspaceId, actor: { id: keyId } }, async () => {
      await requireConversation(inbox.db.sql, { workspaceId, connectionIds }, conversationId)
      const reader = { workspaceId, actorId: keyId, conversationId }
      const file = await openMedia(inbox, reader, fileId, 'file')
      const { bytes } = file.secret
      if (bytes > maxInlineFileBytes) {
        throw new ApiError(
          413,
          `The file has ${bytes} bytes; the limit here is ${maxInlineFileBytes}. Download it with a GET of its path and your key.`,
        )
      }
      const pieces: Uint8Array[] = []
      for await (const piece of await decryptChunks(inbox, file, { start: 0, end: bytes })) pieces.push(piece)
      return { type: file.type, base64: Buffer.concat(pieces).toString('base64') }
    })
}

/** A tool with its MCP listing and its input check. */
interface McpTool {
  definition: AgentTool
  listing: Tool
  check: ReturnType<typeof compileCheck>
}

export interface McpTools {
  /** Returns the tools that the scopes of the key allow, always in the same order. */
  listFor(caller: Caller): Tool[]
  has(name: unknown): boolean
  /** Runs the tool; throws errors of authorization, validation and the tool itself. */
  run(name: string, caller: Caller, input: Record<string, unknown>, signal: AbortSignal): Promise<object>
  /** Reads a file of a conversation; needs `inbox.read`. */
  readFile: ReadFile
}

export function createMcpTools(deps: AgentDeps, guard: ToolGuard, agentTools: readonly AgentTool[]): McpTools {
  const tools = new Map(agentTools.map((agentTool): [string, McpTool] => [agentTool.name, toMcpTool(agentTool)]))
  const lists = new Map<string, Tool[]>()
  const read = fileReader(deps.inbox)
  return {
    listFor: (caller) => {
      const usable = [...tools.values()].filter(({ definition }) => canUse(caller, definition))
      // As many lists as there are sets of scopes.
      const key = usable.map(({ listing }) => listing.name).join()
      const list = lists.get(key) ?? withoutRepeats(usable.map(({ listing }) => listing))
      lists.set(key, list)
      return list
    },
    has: (name) => typeof name === 'string' && tools.has(name),
    run: async (name, caller, input, signal) => {
      const tool = tools.get(name)
      if (tool === undefined) throw new Error('Unknown tool')
      // Authorizes before the validation, so that an unauthorized caller learns nothing from error messages.
      const agent = await authorizeTool(guard, tool.definition, caller)
      const issues = tool.check(input, '')
      if (issues.length > 0) throw new InvalidInput(issues)
      return runTool(deps, tool.definition, agent, input, signal)
    },
    readFile: async (caller, ...ids) => {
      await guard.authorize(caller, 'inbox', ['inbox.read'])
      return read(caller, ...ids)
    },
  }
}

const toMcpTool = (definition: AgentTool): McpTool => ({
  definition,
  listing: toListing(definition),
  check: compileCheck(definition.input),
})

/** Returns a tool as `tools/list` shows it. */
export function toListing(definition: AgentTool): Tool {
  const { name, title, description, hints, http } = definition
  return {
    name,
    description,
    inputSchema: toInputSchema(definition, http.method === 'POST') as Tool['inputSchema'],
    annotations: annotationsOf(title, hints),
  }
}

/** Returns the hints that differ from the defaults of the protocol: not read-only, destructive, not idempotent, open. */
function annotationsOf(title: string, { isReadOnly, isDestructive, isIdempotent }: AgentTool['hints']) {
  return {
    title,
    ...(isReadOnly && { readOnlyHint: true }),
    // These two have no meaning for read-only tools.
    ...(!isReadOnly && !isDestructive && { destructiveHint: false }),
    ...(!isReadOnly && isIdempotent && { idempotentHint: true }),
    // Destructive tools are those that send to customers, outside of the system.
    ...(!isDestructive && { openWorldHint: false }),
  }
}

/**
 * Formats the result of a tool. Repeats it as JSON text, because many clients show the model only text; JSON escaping
 * keeps customer text inside its field.
 */
export function toolResult(answer: object): CallToolResult {
  return { content: [toTextContent(answer)], structuredContent: answer as Record<string, unknown> }
}

/** Formats an error for the model. Has no structured content, which would have to match the tool's output schema. */
export function toolError(error: ApiError): CallToolResult {
  const retryAfter = error.headers['retry-after']
  const problem = problemOf(error)
  return {
    content: [
      toTextContent({ ...problem, ...(retryAfter === undefined ? {} : { retry_after_seconds: Number(retryAfter) }) }),
    ],
    isError: true,
  }
}

const toTextContent = (value: object) => ({ type: 'text' as const, text: JSON.stringify(value) })

/**
 * Input schemas use only JSON Schema keywords that every client supports: some clients convert them to a model's own,
 * smaller dialect. They are part of every model turn, so they are as short as possible.
 */

type Schema = Record<string, unknown>

/** Keywords of OpenAPI, and those for our own documents. */
const openApiKeywords = new Set(['title', 'example', 'discriminator', 'x-published'])

/** Patterns of printable ASCII. */
const isAscii = /^\^\[\\x2[01]-\\x7e\]\+\$$/

/** Keywords that do not help a model; validation errors name these limits. */
const isUnneeded: Record<string, (value: unknown, schema: Schema) => boolean> = {
  pattern: (value) => value === visiblePattern || isAscii.test(String(value)),
  minLength: (value) => Number(value) <= 8,
  minimum: (value) => value === 0 || value === 1,
  minItems: (value) => value === 1,
  maxLength: (value, { format, pattern }) =>
    Number(value) >= 255 || format !== undefined || /\{\d+,\d+\}\$$/.test(String(pattern)),
  maximum: (value) => Number(value) > 1e9,
  additionalProperties: (value) => value === false,
}

/** Returns the input schema of a tool. States `additionalProperties: false` once, at the top level. */
function toInputSchema({ input, brief = [] }: AgentTool, isCreation: boolean): Schema {
  const fields = Object.entries(input.properties).map(([name, field]) => [
    name,
    brief.includes(name) ? typeOnly(field as Schema, isCreation) : field,
  ])
  return { ...simplify({ ...input, properties: Object.fromEntries(fields) }), additionalProperties: false }
}

/** Null clears a value, so it is not listed where something is created. */
const typeOnly = ({ type }: Schema, isCreation: boolean): Schema => ({
  type: isCreation && Array.isArray(type) ? type.find((one) => one !== 'null') : type,
})

/** Leaves out descriptions that the list has given to a field of that name before. */
function withoutRepeats(tools: readonly Tool[]): Tool[] {
  const given = new Set<string>()
  const shorten = (value: unknown, name: string): unknown => {
    if (Array.isArray(value)) return value.map((each) => shorten(each, name))
    if (!isSchema(value)) return value
    const { description, ...rest } = value
    const text = `${name} ${description}`
    const isRepeated = typeof description === 'string' && given.has(text)
    given.add(text)
    const inside = Object.entries(isRepeated ? rest : value).map(([keyword, inner]) => {
      if (keyword !== 'properties' || !isSchema(inner)) return [keyword, shorten(inner, name)]
      return [keyword, Object.fromEntries(Object.entries(inner).map(([field, of]) => [field, shorten(of, field)]))]
    })
    return Object.fromEntries(inside)
  }
  return tools.map((tool) => ({ ...tool, inputSchema: shorten(tool.inputSchema, '') as Tool['inputSchema'] }))
}

function simplify(schema: Schema): Schema {
  const entries = Object.entries(schema).filter(
    ([keyword, value]) => !openApiKeywords.has(keyword) && !isUnneeded[keyword]?.(value, schema),
  )
  return withOneType(
    withAnyKey(Object.fromEntries(entries.map(([word, value]) => [word, simplifyKeyword(word, value)]))),
  )
}

function simplifyKeyword(keyword: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => (isSchema(each) ? simplify(each) : each))
  if (!isSchema(value)) return value
  if (keyword !== 'properties' && keyword !== 'patternProperties') return simplify(value)
  // These keys are names of fields.
  const fields = Object.entries(value).filter((field): field is [string, Schema] => isSchema(field[1]))
  return Object.fromEntries(fields.map(([name, field]) => [name, simplify(field)]))
}

/** Converts `patternProperties` of objects with arbitrary keys to `additionalProperties`. */
function withAnyKey({ patternProperties, ...schema }: Schema): Schema {
  if (!isSchema(patternProperties)) return schema
  const [each] = Object.values(patternProperties)
  return { ...schema, additionalProperties: each }
}

/** Converts `{"type": ["string", "null"]}` to `anyOf`, which more clients support. */
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
