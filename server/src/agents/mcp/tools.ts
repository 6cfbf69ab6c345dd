import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import type { Caller } from '../../access/keys/caller.ts'
import type { Guard } from '../../access/keys/guard.ts'
import { ApiError, InvalidInput } from '../../base/errors.ts'
import { visible } from '../../base/schema-types.ts'
import { compileCheck } from '../../base/validation.ts'
import { conversationNotFound } from '../../inbox/conversation/errors.ts'
import { findConversation } from '../../inbox/conversation/queries.ts'
import { openMedia } from '../../inbox/media/media-queries.ts'
import type { SendDeps } from '../../inbox/send/send-deps.ts'
import { filePlaces, openPieces } from '../../inbox/team-api/files/send-file.ts'
import { problemOf } from '../http/problem.ts'
import { type AgentDeps, admitTo, isFor, maxFileInMessage, runVerb, type Verb } from '../verb.ts'

const places = { ofMember: 2, ofWorkspace: 4, ofAll: 8 }

/** What it is, and its bytes in base64. Throws 404, 413 for one that is too large, and 429 when too many are read at once. */
type ReadFile = (caller: Caller, conversationId: string, fileId: string) => Promise<{ type: string; base64: string }>

/** Reads files of conversations for those who cannot ask for their bytes by HTTP. */
function fileReader(inbox: SendDeps): ReadFile {
  const place = filePlaces(places)
  return ({ workspaceId, keyId, connectionIds }, conversationId, fileId) =>
    place({ workspaceId, actor: { id: keyId } }, async () => {
      const conversation = await findConversation(inbox.db.sql, { workspaceId, connectionIds }, conversationId)
      if (conversation === undefined) throw conversationNotFound()
      const asker = { workspaceId, actorId: keyId, conversationId }
      const file = await openMedia(inbox, asker, fileId, 'file')
      const { bytes } = file.secret
      if (bytes > maxFileInMessage) {
        throw new ApiError(
          413,
          `The file has ${bytes} bytes, of at most ${maxFileInMessage} here. GET its path with your key.`,
        )
      }
      const pieces: Uint8Array[] = []
      for await (const piece of await openPieces(inbox, file, { start: 0, end: bytes })) pieces.push(piece)
      return { type: file.type, base64: Buffer.concat(pieces).toString('base64') }
    })
}

/** A verb as the protocol shows it, and as it is called. */
interface VerbTool {
  verb: Verb
  shown: Tool
  check: ReturnType<typeof compileCheck>
}

export interface Tools {
  /** Those that the scopes of the key allow, always in the same order. */
  shownTo(caller: Caller): Tool[]
  knows(name: unknown): boolean
  /** Does what the tool of that name does; throws what keeps the caller from it. */
  run(name: string, caller: Caller, input: Record<string, unknown>, signal: AbortSignal): Promise<object>
  /** A file of a conversation, for whoever may read that. */
  readFile: ReadFile
}

export function createTools(deps: AgentDeps, guard: Pick<Guard, 'admit'>, verbs: readonly Verb[]): Tools {
  const tools = new Map(verbs.map((verb): [string, VerbTool] => [verb.name, toolOf(verb)]))
  const read = fileReader(deps.inbox)
  return {
    shownTo: (caller) => [...tools.values()].filter(({ verb }) => isFor(caller, verb)).map(({ shown }) => shown),
    knows: (name) => typeof name === 'string' && tools.has(name),
    run: async (name, caller, input, signal) => {
      const tool = tools.get(name)
      if (tool === undefined) throw new Error('Asked for a tool that is not there')
      // Before the input is looked at: a caller that may not use it learns nothing by trying.
      const agent = await admitTo(guard, tool.verb, caller)
      const issues = tool.check(input, '')
      if (issues.length > 0) throw new InvalidInput(issues)
      return runVerb(deps, tool.verb, agent, input, signal)
    },
    readFile: async (caller, ...ids) => {
      await guard.admit(caller, 'inbox', ['inbox.read'])
      return read(caller, ...ids)
    },
  }
}

function toolOf(verb: Verb): VerbTool {
  const { name, title, description, hints, input } = verb
  const shown: Tool = {
    name,
    description,
    inputSchema: plainInput(input) as Tool['inputSchema'],
    annotations: {
      title,
      readOnlyHint: hints.isReadOnly,
      // Of what changes nothing these two say nothing.
      ...(!hints.isReadOnly && { destructiveHint: hints.isDestructive, idempotentHint: hints.isIdempotent }),
      // What cannot be taken back is what a customer is told, out there.
      openWorldHint: hints.isDestructive,
    },
  }
  return { verb, shown, check: compileCheck(input) }
}

/**
 * The answer of a tool. The text is the same as JSON, since many clients show their model nothing else; in it no text of a
 * customer can end the field that it stands in.
 */
export function toolAnswer(answer: object): CallToolResult {
  return { content: [textOf(answer)], structuredContent: answer as Record<string, unknown> }
}

/** A failure that the model is to read and act on. It has no structured part, which would have to fit the tool's schema. */
export function toolFailure(error: ApiError): CallToolResult {
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
const foreign = new Set(['title', 'example', 'discriminator', 'x-published'])

/** The patterns of texts in printable ASCII. */
const isAscii = /^\^\[\\x2[01]-\\x7e\]\+\$$/

/** Keywords that a model learns nothing by: a refusal says them, should it ever come to one. */
const isNoise: Record<string, (value: unknown, schema: Schema) => boolean> = {
  pattern: (value) => value === visible || isAscii.test(String(value)),
  minLength: (value) => value === 1,
  maxLength: (_, { format, pattern }) => format !== undefined || /\{\d+,\d+\}\$$/.test(String(pattern)),
  maximum: (value) => Number(value) > 1e9,
  additionalProperties: (value) => value === false,
}

/** Returns the schema of what a tool takes, with its limits. That it takes nothing else is said once, of the whole. */
const plainInput = (schema: object): Schema => ({ ...plain({ ...schema }), additionalProperties: false })

function plain(schema: Schema): Schema {
  const kept = Object.entries(schema).filter(([word, value]) => !foreign.has(word) && !isNoise[word]?.(value, schema))
  return withOneType(withAnyKey(Object.fromEntries(kept.map(([word, value]) => [word, plainPart(word, value)]))))
}

function plainPart(word: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => (isSchema(each) ? plain(each) : each))
  if (!isSchema(value)) return value
  if (word !== 'properties' && word !== 'patternProperties') return plain(value)
  // Here the words are names of fields.
  const fields = Object.entries(value).filter((field): field is [string, Schema] => isSchema(field[1]))
  return Object.fromEntries(fields.map(([name, field]) => [name, plain(field)]))
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
