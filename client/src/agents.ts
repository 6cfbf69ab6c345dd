import { AgentCalls } from './agent-calls.ts'
import { forEver } from './call.ts'
import { Work } from './work.ts'

export interface WorkOptions {
  /** How many conversations one answer brings at most. Default: 10. */
  limit?: number
  /** How long one request waits for work. Default: 25, at most 25. */
  waitSeconds?: number
  /** Ends it; the reason is thrown. */
  signal?: AbortSignal
}

/** The interface for agents: each of its verbs, and what waits for work. */
export class Agents extends AgentCalls {
  /**
   * Conversations as customers write in them or somebody hands them to you, for as long as you ask; the service may be away meanwhile. It
   * begins with all that wait now, the longest first, so that a program that was restarted has nothing to remember.
   */
  async *work({ limit, waitSeconds, signal }: WorkOptions = {}): AsyncGenerator<Work, void, undefined> {
    let cursor: string | undefined
    for (;;) {
      const asked = { cursor, wait: waitSeconds, limit }
      const found = await this.waitForWork(asked, { ...forEver, signal })
      for (const work of found.work) yield new Work(this, work)
      cursor = found.next_cursor ?? undefined
    }
  }
}
