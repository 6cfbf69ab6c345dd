import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import type { KeyGuard } from '../../auth/api-keys/authenticate.ts'
import type { Caller } from '../../auth/api-keys/caller.ts'
import { ApiError, InvalidInput } from '../../base/errors.ts'
import { visible } from '../../base/schema-types.ts'
import { compileCheck } from '../../base/validation.ts'
import { conversationNotFound } from '../../inbox/conversation/errors.ts'
import { findConversation } from '../../inbox/conversation/queries.ts'
import { openMedia } from '../../inbox/media/media-queries.ts'
import type { SendDeps } from '../../inbox/send/send-deps.ts'
import { createFileSlots, decryptPieces } from '../../inbox/team-api/files/send-file.ts'
import { problemOf } from '../http/problem.ts'
import { type AgentDeps, type AgentTool, authorizeTool, canUse, maxInlineFileBytes, runTool } from '../tool.ts'

const fileSlots = { ofMember: 2, ofWorkspace: 4, ofAll: 8 }

/** What it is, and its bytes in base64. Throws 404, 413 for one that is too large, and 429 when too many are read at once. */
type ReadFile = (caller: Caller, conversationId: string, fileId: string) => Promise<{ type: string; base64: string }>

/** Reads files of conversations for those who cannot ask for their bytes by HTTP. */
function fileReader(inbox: SendDeps): ReadFile {
  const place = createFileSlots(fileSlots)
  return ({ workspaceId, keyId, connectionIds }, conversationId, fileId) =>
    place({ workspaceId, actor: { id: keyId } }, async () => {
      const conversation = await findConversation(inbox.db.sql, { workspaceId, connectionIds }, conversationId)
      if (conversation === undefined) throw conversationNotFound()
      const asker = { workspaceId, actorId: keyId, conversationId }
      const file = await openMedia(inbox, asker, fileId, 'file')
      const { bytes } = file.secret
      if (bytes > maxInlineFileBytes) {
        throw new ApiError(
          413,
          `The file has ${bytes} bytes, of at most ${maxInlineFileBytes} here. GET its path with your key.`,
        )
      }
      const pieces: Uint8Array[] = []
      for await (const piece of await decryptPieces(inbox, file, { start: 0, end: bytes })) pieces.push(piece)
      return { type: file.type, base64: Buffer.concat(pieces).toString('base64') }
    })
}

/** A verb as the protocol shows it, and as it is called. */
interface McpTool {
  definition: AgentTool
  listing: Tool
  check: ReturnType<typeof compileCheck>
}

export interface McpTools {
  /** Those that the scopes of the key allow, always in the same order. */
  listFor(caller: Caller): Tool[]
  has(name: unknown): boolean
  /** Does what the tool of that name does; throws what keeps the caller from it. */
  run(name: string, caller: Caller, input: Record<string, unknown>, signal: AbortSignal): Promise<object>
  /** A file of a conversation, for whoever may read that. */
  readFile: ReadFile
}

export function createMcpTools(
  deps: AgentDeps,
  guard: Pick<KeyGuard, 'authorize'>,
  agentTools: readonly AgentTool[],
): McpTools {
  const tools = new Map(agentTools.map((agentTool): [string, McpTool] => [agentTool.name, toMcpTool(agentTool)]))
  const read = fileReader(deps.inbox)
  return {
    listFor: (caller) =>
      [...tools.values()].filter(({ definition }) => canUse(caller, definition)).map(({ listing }) => listing),
    has: (name) => typeof name === 'string' && tools.has(name),
    run: async (name, caller, input, signal) => {
      const tool = tools.get(name)
      if (tool === undefined) throw new Error('Asked for a tool that is not there')
      // Before the input is looked at: a caller that may not use it learns nothing by trying.
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

function toMcpTool(definition: AgentTool): McpTool {
  const { name, title, description, hints, input } = definition
  const listing: Tool = {
    name,
    description,
    inputSchema: toInputSchema(input) as Tool['inputSchema'],
    annotations: {
      title,
      readOnlyHint: hints.isReadOnly,
      // Of what changes nothing these two say nothing.
      ...(!hints.isReadOnly && { destructiveHint: hints.isDestructive, idempotentHint: hints.isIdempotent }),
      // What cannot be taken back is what a customer is told, out there.
      openWorldHint: hints.isDestructive,
    },
  }
  return { definition, listing, check: compileCheck(input) }
}

/**
 * The answer of a tool. The text is the same as JSON, since many clients show their model nothing else; in it no text of a
 * customer can end the field that it stands in.
 */
export function toolResult(answer: object): CallToolResult {
  return { content: [textOf(answer)], structuredContent: answer as Record<string, unknown> }
}

/** A failure that the model is to read and act on. It has no structured part, which would have to fit the tool's schema. */
export function toolError(error: ApiError): CallToolResult {
  const retryAfter = error.headers['retry-after']
  const problem = problemOf(error)
  return {
    content: [textOf({ ...problem, ...(retryAfter === undefined ? {} : { retry_after_seconds: Number(retryAfter) }) })],
    isError: true,
  }
}

const textOf = (value: object) => ({ type: 'text' as const, text: JSON.stringify(value) })

/**
 * Schemas of tools, in those words of JSON Schema that every client reads: some map it onto a language model's own, smaller
 * one. All of them are before a model in each of its turns, so they say no more than it needs.
 */

type Schema = Record<string, unknown>

/** Keywords of OpenAPI, or for our own documents. */
const openApiKeywords = new Set(['title', 'example', 'discriminator', 'x-published'])

/** The patterns of texts in printable ASCII. */
const isAscii = /^\^\[\\x2[01]-\\x7e\]\+\$$/

/** Keywords that a model learns nothing by: a refusal says them, should it ever come to one. */
const isUnneeded: Record<string, (value: unknown, schema: Schema) => boolean> = {
  pattern: (value) => value === visible || isAscii.test(String(value)),
  minLength: (value) => value === 1,
  maxLength: (_, { format, pattern }) => format !== undefined || /\{\d+,\d+\}\$$/.test(String(pattern)),
  maximum: (value) => Number(value) > 1e9,
  additionalProperties: (value) => value === false,
}

/** Returns the schema of what a tool takes, with its limits. That it takes nothing else is said once, of the whole. */
const toInputSchema = (schema: object): Schema => ({ ...simplify({ ...schema }), additionalProperties: false })

function simplify(schema: Schema): Schema {
  const kept = Object.entries(schema).filter(
    ([keyword, value]) => !openApiKeywords.has(keyword) && !isUnneeded[keyword]?.(value, schema),
  )
  return withOneType(withAnyKey(Object.fromEntries(kept.map(([word, value]) => [word, simplifyKeyword(word, value)]))))
}

function simplifyKeyword(keyword: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => (isSchema(each) ? simplify(each) : each))
  if (!isSchema(value)) return value
  if (keyword !== 'properties' && keyword !== 'patternProperties') return simplify(value)
  // Here the words are names of fields.
  const fields = Object.entries(value).filter((field): field is [string, Schema] => isSchema(field[1]))
  return Object.fromEntries(fields.map(([name, field]) => [name, simplify(field)]))
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
