import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import type { Caller } from '../../access/keys/caller.ts'
import type { Guard } from '../../access/keys/guard.ts'
import { type ApiError, InvalidInput } from '../../base/errors.ts'
import { compileCheck } from '../../base/validation.ts'
import { admitTo, isFor } from '../admit.ts'
import { problemOf } from '../http/problem.ts'
import { runVerb } from '../run-verb.ts'
import type { AgentDeps, Verb } from '../verb.ts'
import { plainInput } from './plain-schema.ts'
import { fileReader, type ReadFile } from './read-file.ts'

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
