import type { Static, TObject } from 'typebox'
import type { Caller } from '../access/keys/caller.ts'
import type { Scope } from '../access/keys/scopes.ts'
import type { GuessesOf } from '../access/rate-limit/guesses.ts'
import type { Take } from '../access/rate-limit/limiter.ts'
import type { NewUpload, Uploaded } from '../inbox/media/uploads.ts'
import type { SendMessage } from '../inbox/send/send.ts'
import type { SendDeps } from '../inbox/send/send-deps.ts'
import type { ReadLead } from '../leads/lead/identify.ts'
import type { ListDeps } from '../leads/search/list.ts'
import type { CreateLead } from '../leads/write/create.ts'
import type { UpsertLead } from '../leads/write/upsert.ts'
import type { Breaker } from './pause/breaker.ts'
import type { WorkWaits } from './wait/work-waits.ts'

/** What verbs act on. */
export interface AgentDeps {
  inbox: SendDeps
  leads: ListDeps
  /** Each lets those of a busy moment go together. */
  send: SendMessage
  readLead: ReadLead
  createLead: CreateLead
  upsertLead: UpsertLead
  guesses: GuessesOf
  waits: WorkWaits
  uploads: AgentUploads
  breaker: Breaker
}

/** The files that agents bring for their answers. */
export interface AgentUploads {
  /** Takes one in for a conversation of the caller's; throws 404, 409 for another's, and what the channel does not take. */
  take(caller: Caller, upload: NewUpload): Promise<Uploaded>
  /** Forgets one that no message has taken; does nothing where one has. */
  drop(caller: Caller, conversationId: string, id: string): Promise<void>
}

/** Who asks, and what its key may still ask for. */
export interface AgentCaller extends Caller {
  /** Of the minute's limit; null where there is none. */
  left: Take | null
}

/**
 * One thing that an agent can do, whatever the face it comes by: its name, schemas and words are the documentation, the
 * HTTP route and the tool.
 */
export interface VerbOf<I extends TObject, O extends TObject> {
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
  hints: Hints
  example: { input: Static<I>; output: Static<O> }
  /** `signal` aborts when nobody waits for the answer any more. */
  run(deps: AgentDeps, caller: AgentCaller, input: Static<I>, signal: AbortSignal): Promise<Static<O>>
}

export interface Hints {
  /** It changes nothing. */
  isReadOnly: boolean
  /** What it does cannot be taken back, such as what a customer is told. */
  isDestructive: boolean
  /** Asked for again in the same words it does no more. */
  isIdempotent: boolean
}

export type Verb = VerbOf<TObject, TObject>

/** Checks what a verb promises, and forgets the types that only its own file knows. */
export function defineVerb<I extends TObject, O extends TObject>(verb: VerbOf<I, O>): Verb {
  return verb as unknown as Verb
}

export const reads: Hints = { isReadOnly: true, isDestructive: false, isIdempotent: true }
/** It changes what is here, and once is as good as twice. */
export const sets: Hints = { isReadOnly: false, isDestructive: false, isIdempotent: true }
