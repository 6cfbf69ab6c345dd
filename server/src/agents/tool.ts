import { type Static, type TObject, type TProperties, Type } from 'typebox'
import type { KeyGuard } from '../auth/api-keys/authenticate.ts'
import type { Caller, Face, Scope } from '../auth/api-keys/caller.ts'
import type { Take } from '../auth/rate-limit/limiter.ts'
import type { LookupLimitOf } from '../auth/rate-limit/lookup-limit.ts'
import { ApiError } from '../base/errors.ts'
import { titled } from '../base/route.ts'
import { text } from '../base/schema-types.ts'
import type { NewUpload, UploadResult } from '../inbox/media/uploads.ts'
import type { SendMessage } from '../inbox/send/send.ts'
import type { SendDeps } from '../inbox/send/send-deps.ts'
import type { ReadLead } from '../leads/lead/identify.ts'
import type { ListDeps } from '../leads/search/list.ts'
import type { CreateLead } from '../leads/write/create.ts'
import type { UpsertLead } from '../leads/write/upsert.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import type { WorkQueue } from './work/work-queue.ts'

/** What verbs act on. */
export interface AgentDeps {
  inbox: SendDeps
  leads: ListDeps
  /** Each lets those of a busy moment go together. */
  send: SendMessage
  readLead: ReadLead
  createLead: CreateLead
  upsertLead: UpsertLead
  lookupLimits: LookupLimitOf
  workWaits: WorkQueue
  uploads: AgentUploads
  circuitBreaker: CircuitBreaker
}

/** The files that agents bring for their answers. */
export interface AgentUploads {
  /** Takes one in for a conversation of the caller's; throws 404, 409 for another's, and what the channel does not take. */
  create(caller: Caller, upload: NewUpload): Promise<UploadResult>
  /** Forgets one that no message has taken; does nothing where one has. */
  delete(caller: Caller, conversationId: string, id: string): Promise<void>
}

/** Who asks, and what its key may still ask for. */
export interface AgentCaller extends Caller {
  /** Of the minute's limit; null where there is none. */
  rateLimitLeft: Take | null
}

/**
 * One thing that an agent can do, whatever the face it comes by: its name, schemas and words are the documentation, the
 * HTTP route and the tool.
 */
interface AgentToolOf<I extends TObject, O extends TObject> {
  /** In snake_case: the tool's name, and the operation's id. */
  name: string
  title: string
  /** Written for models: what it does, when to use it, and what it never does. */
  description: string
  /** Any one of them lets a key in. */
  scopes: readonly [Scope, ...Scope[]]
  /** The path below `/api/v2`; the names in it (`:conversation_id`) are fields of the input. */
  http: {
    method: 'GET' | 'POST' | 'PATCH'
    path: string
    /** Where a body may be larger than bodies are. */
    maxBodyBytes?: number
  }
  /** Closed. A GET takes what is not in the path as query, everything else as body. */
  input: I
  /** With `next`: what can be done now. */
  output: O
  hints: ToolHints
  example: { input: Static<I>; output: Static<O> }
  /** `signal` aborts when nobody waits for the answer any more. */
  run(deps: AgentDeps, caller: AgentCaller, input: Static<I>, signal: AbortSignal): Promise<Static<O>>
}

interface ToolHints {
  /** It changes nothing. */
  isReadOnly: boolean
  /** What it does cannot be taken back, such as what a customer is told. */
  isDestructive: boolean
  /** Asked for again in the same words it does no more. */
  isIdempotent: boolean
}

export type AgentTool = AgentToolOf<TObject, TObject>

/** Checks what a verb promises, and forgets the types that only its own file knows. */
export function defineTool<I extends TObject, O extends TObject>(tool: AgentToolOf<I, O>): AgentTool {
  return tool as unknown as AgentTool
}

export const readOnly: ToolHints = { isReadOnly: true, isDestructive: false, isIdempotent: true }
/** It changes what is here, and once is as good as twice. */
export const idempotentChange: ToolHints = { isReadOnly: false, isDestructive: false, isIdempotent: true }

/** What the schemas of all verbs share. */

const closed = { additionalProperties: false }

/** What a verb takes: nothing but these. */
export const input = <P extends TProperties>(fields: P) => Type.Object(fields, closed)

export const next = Type.Array(text(500, 'One thing.'), {
  maxItems: 5,
  description: 'What can be done now, in plain sentences.',
  example: ['Call wait_for_work for the next customer.'],
})

/** What a verb answers: these, and what can be done next. */
export const output = <P extends TProperties>(title: string, fields: P) => titled(title, { ...fields, next })

export const idempotencyKey = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '^[\\x20-\\x7e]+$',
  description: 'Done once per key. Left out, it is made of the content and of what you have seen of the conversation.',
  example: 'order-1042-shipped',
})

/** The largest file that a message of a tool carries, either way: all of it is held several times over. */
export const maxInlineFileBytes = 2 * 1024 * 1024

/** Does what a verb does, for a caller that was admitted, unless its key repeats itself: then throws 429 `PAUSED`. */
export async function runTool(
  deps: AgentDeps,
  tool: AgentTool,
  caller: AgentCaller,
  input: Record<string, unknown>,
  signal: AbortSignal,
): Promise<object> {
  // Whoever is lost may always ask where it is.
  if (tool.name !== 'who_am_i') deps.circuitBreaker.check(caller)
  try {
    return await tool.run(deps, caller, input, signal)
  } catch (error) {
    if (error instanceof ApiError) deps.circuitBreaker.recordRefusal(caller, tool.name, subjectOf(tool, input), error)
    throw error
  }
}

/** What a call is about, whatever words it has: what its path names, or all of its input. */
function subjectOf({ http }: AgentTool, input: Record<string, unknown>): unknown {
  const named = [...http.path.matchAll(/:(\w+)/g)].map(([, name = '']) => input[name])
  return named.length === 0 ? input : named
}

/** Lets a caller use a verb, or throws 401, 403, 429 or 503 as every face does. */
export async function authorizeTool(
  guard: Pick<KeyGuard, 'authorize'>,
  tool: AgentTool,
  caller: Caller,
): Promise<AgentCaller> {
  const rateLimitLeft = await guard.authorize(caller, areaFor(tool, caller), tool.scopes)
  // What a node keeps of a key is shared by all its requests.
  return { ...caller, rateLimitLeft }
}

/** Whether the key has a scope of the verb: the others are not shown to it. */
export const canUse = (caller: Caller, tool: AgentTool): boolean => tool.scopes.some((scope) => caller.may(scope))

// A verb for any key asks for the plan of a face that the key is for.
function areaFor({ scopes: anyOf }: AgentTool, { may, workspace }: Caller): Face {
  const ofInbox = anyOf.filter((scope) => scope.startsWith('inbox.'))
  if (ofInbox.length === anyOf.length) return 'inbox'
  return ofInbox.some(may) && workspace.inboxEnabled ? 'inbox' : 'leads'
}
