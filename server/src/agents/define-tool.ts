import { type Static, type TObject, type TProperties, Type } from 'typebox'
import type { KeyGuard } from '../auth/api-keys/authenticate.ts'
import { type ApiArea, type Caller, type Scope as KeyScope, rejectKey } from '../auth/api-keys/caller.ts'
import type { RateLimitResult } from '../auth/rate-limit/limiter.ts'
import type { LookupLimitOf } from '../auth/rate-limit/lookup-limit.ts'
import { ApiError } from '../base/errors.ts'
import { titled } from '../base/route.ts'
import { text } from '../base/schema-types.ts'
import type { Scope } from '../inbox/conversation/conversation.ts'
import type { NewUpload, UploadResult } from '../inbox/media/uploads.ts'
import type { Typing } from '../inbox/read/typing.ts'
import type { SendMessage } from '../inbox/send/send.ts'
import type { SendDeps } from '../inbox/send/send-deps.ts'
import { CustomerWroteAgain } from '../inbox/send/send-errors.ts'
import type { SearchDeps } from '../knowledge/search.ts'
import type { LeadReader } from '../leads/lead/find-lead.ts'
import type { ListDeps } from '../leads/search/list.ts'
import type { LeadCreator } from '../leads/write/create.ts'
import type { LeadUpserter } from '../leads/write/upsert.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import type { WorkQueue } from './work/work-queue.ts'

export interface AgentDeps {
  inbox: SendDeps
  leads: ListDeps
  knowledge: SearchDeps
  /** The next four batch concurrent calls. */
  send: SendMessage
  readLead: LeadReader
  createLead: LeadCreator
  upsertLead: LeadUpserter
  lookupLimits: LookupLimitOf
  workQueue: WorkQueue
  uploads: AgentUploads
  typing: Typing
  createTask: CreateTask
  prepareBroadcast: PrepareBroadcast
  startSequence: StartSequence
  circuitBreaker: CircuitBreaker
  /** Runs a tool and records its call, for keys of sandboxes. */
  recordCall: RecordCall
}

type RecordCall = <T extends object>(
  caller: { workspaceId: string },
  tool: string,
  input: Record<string, unknown>,
  run: () => Promise<T>,
) => Promise<T>

/** Creates a task for people; throws 404, 400 for a person who is no member, and 409 at the limits. */
type CreateTask = (
  by: Scope & { actor: { type: 'agent'; id: string } },
  task: { title: string; dueAt: Date; conversationId: string; leadId: null; assignedTo: string | null },
) => Promise<{ task: { id: string }; isNew: boolean }>

/** Drafts a broadcast for people; throws 400 for a connection without templates, and 409 at the limit. */
type PrepareBroadcast = (
  by: { workspaceId: string; actor: { type: 'agent'; id: string } },
  draft: {
    name: string
    connectionId: string
    filter: { status?: string }
    template: { name: string; language: string }
    /** Names of fields, with a fallback after a bar. */
    variables: readonly string[]
  },
) => Promise<{ id: string }>

/** Starts a sequence that is open to agents; throws 404 with the names of others, and 409. */
type StartSequence = (
  by: Scope & { actor: { type: 'agent'; id: string } },
  start: { sequence: string; conversationId: string | null; leadId: string | null },
) => Promise<{ sequence: { id: string }; isNew: boolean }>

export interface AgentUploads {
  /** Stores an upload for an own conversation; throws 404, 409 for another owner, and errors of the channel. */
  create(caller: Caller, upload: NewUpload): Promise<UploadResult>
  /** Deletes an upload; does nothing if a message has used it. */
  delete(caller: Caller, conversationId: string, id: string): Promise<void>
}

export interface AgentCaller extends Caller {
  /** What is left of the rate limit; null: unlimited. */
  rateLimitLeft: RateLimitResult | null
}

/**
 * One operation for agents. Its name, schemas and texts define the HTTP route, the MCP tool and their documentation.
 */
interface AgentToolOf<I extends TObject, O extends TObject> {
  /** In snake_case: name of the tool and id of the operation. */
  name: string
  title: string
  /** For models: what it does, when to use it, and what it never does. */
  description: string
  /** Any one of them suffices. */
  scopes: readonly [KeyScope, ...KeyScope[]]
  /** Path below `/api/v2`; its parameters (`:conversation_id`) are fields of the input. */
  http: {
    method: 'GET' | 'POST' | 'PATCH'
    path: string
    /** Body limit in bytes, if larger than the default. */
    maxBodyBytes?: number
  }
  /** Fields that another tool describes: the MCP listing has only their types. */
  brief?: readonly string[]
  /** Without additional properties. A GET takes fields that are not in the path as query, other methods as body. */
  input: I
  /** Includes `next`. */
  output: O
  hints: ToolHints
  example: { input: Static<I>; output: Static<O> }
  /** `signal` aborts when the client disconnects. */
  run(deps: AgentDeps, caller: AgentCaller, input: Static<I>, signal: AbortSignal): Promise<Static<O>>
}

interface ToolHints {
  isReadOnly: boolean
  /** Its effect cannot be undone, such as a message to a customer. */
  isDestructive: boolean
  /** A repeated call with the same input has no further effect. */
  isIdempotent: boolean
}

export type AgentTool = AgentToolOf<TObject, TObject>

/** Checks the types of a tool, then erases those of its input and output. */
export function defineTool<I extends TObject, O extends TObject>(tool: AgentToolOf<I, O>): AgentTool {
  return tool as unknown as AgentTool
}

export const readOnly: ToolHints = { isReadOnly: true, isDestructive: false, isIdempotent: true }
export const idempotentChange: ToolHints = { isReadOnly: false, isDestructive: false, isIdempotent: true }

/** Shared parts of the schemas of all tools. */

const closed = { additionalProperties: false }

/** Returns the input schema of a tool, without additional properties. */
export const input = <P extends TProperties>(fields: P) => Type.Object(fields, closed)

export const next = Type.Array(text(500, 'One step.'), {
  maxItems: 5,
  description: 'What you can do now, in plain sentences.',
  example: ['Call wait_for_work for the next customer.'],
})

/** Returns the output schema of a tool: the fields and `next`. */
export const output = <P extends TProperties>(title: string, fields: P) => titled(title, { ...fields, next })

export const idempotencyKey = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '^[\\x20-\\x7e]+$',
  description:
    'The call takes effect once per key. Default: derived from the content and the messages that you have seen.',
  example: 'order-1042-shipped',
})

/** Largest file in a JSON message, in bytes; several copies of it are in memory at once. */
export const maxInlineFileBytes = 2 * 1024 * 1024

/** Runs a tool for an authorized caller. Throws 429 `PAUSED` while the key is paused for repeated calls. */
export async function runTool(
  deps: AgentDeps,
  tool: AgentTool,
  caller: AgentCaller,
  input: Record<string, unknown>,
  signal: AbortSignal,
): Promise<object> {
  const run = async () => {
    // A paused agent can still call who_am_i to find its state.
    if (tool.name !== alwaysOn) deps.circuitBreaker.check(caller)
    return runUnpaused(deps, tool, caller, input, signal)
  }
  return caller.workspace.isSandbox === true ? deps.recordCall(caller, tool.name, input, run) : run()
}

async function runUnpaused(...[deps, tool, caller, input, signal]: Parameters<typeof runTool>): Promise<object> {
  try {
    return await tool.run(deps, caller, input, signal)
  } catch (error) {
    if (error instanceof ApiError) {
      // A customer who writes fast must not pause a key that reads what they wrote: only identical calls count.
      const subject = error instanceof CustomerWroteAgain ? input : subjectOf(tool, input)
      deps.circuitBreaker.recordRefusal(caller, tool.name, subject, error)
    }
    throw error
  }
}

/** Returns the subject of a call: its path parameters, or all of its input. */
function subjectOf({ http }: AgentTool, input: Record<string, unknown>): unknown {
  const named = [...http.path.matchAll(/:(\w+)/g)].map(([, name = '']) => input[name])
  return named.length === 0 ? input : named
}

/** Always available: it tells an agent what the team has switched off. */
export const alwaysOn = 'who_am_i'

/** Throws the 401 if the team has switched the tool off for the key. */
export function requireTool({ agentSettings: { toolsOff } }: Caller, name: string): void {
  if (toolsOff.includes(name) && name !== alwaysOn) throw rejectKey({ toolOff: name })
}

export type ToolGuard = Pick<KeyGuard, 'authorize'>

/** Authorizes a caller for a tool; throws 401, 403, 429 or 503. */
export async function authorizeTool(guard: ToolGuard, tool: AgentTool, caller: Caller): Promise<AgentCaller> {
  requireTool(caller, tool.name)
  const rateLimitLeft = await guard.authorize(caller, areaFor(tool, caller), tool.scopes)
  // Copies the caller, because the cached one is shared by all requests of the key.
  return { ...caller, rateLimitLeft }
}

/** Returns whether the key has a scope of the tool and the team has not switched it off; others are not listed for it. */
export const canUse = (caller: Caller, { name, scopes }: AgentTool): boolean =>
  scopes.some((scope) => caller.may(scope)) && !caller.agentSettings.toolsOff.includes(name)

// A tool with scopes of both areas is authorized for the area that the key has access to; knowledge is part of both.
export function areaFor({ scopes: anyOf }: AgentTool, { may, workspace }: Caller): ApiArea {
  if (anyOf.every((scope) => scope.startsWith('knowledge.'))) return workspace.inboxEnabled ? 'inbox' : 'leads'
  const inboxScopes = anyOf.filter((scope) => scope.startsWith('inbox.'))
  if (inboxScopes.length === anyOf.length) return 'inbox'
  return inboxScopes.some(may) && workspace.inboxEnabled ? 'inbox' : 'leads'
}
