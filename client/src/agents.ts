import { AgentCalls, type FileUploaded, type UploadFileInput } from './agent-calls.ts'
import { type Caller, type CallOptions, pathOf, retryForever } from './call.ts'
import { ParleyError } from './errors.ts'
import { Work } from './work.ts'

export interface WorkOptions {
  /** How many conversations one answer brings at most. Default: 10. */
  limit?: number
  /** How long one request waits for work. Default: 25, at most 25. */
  waitSeconds?: number
  /** Ends it; the reason is thrown. */
  signal?: AbortSignal
}

const fileTimeoutMs = 10 * 60_000

/** The interface for agents: each of its verbs, and what waits for work. */
export class Agents extends AgentCalls {
  readonly #call: Caller

  constructor(call: Caller) {
    super(call)
    this.#call = call
  }

  /**
   * Conversations as customers write in them or somebody hands them to you, for as long as you ask; the service may be away meanwhile. It
   * begins with all that wait now, the longest first, so that a program that was restarted has nothing to remember.
   */
  async *work({ limit, waitSeconds, signal }: WorkOptions = {}): AsyncGenerator<Work, void, undefined> {
    let cursor: string | undefined
    for (;;) {
      const request = { cursor, wait: waitSeconds, limit }
      const found = await this.waitForWork(request, { ...retryForever, signal })
      for (const work of found.work) yield new Work(this, work)
      cursor = found.next_cursor ?? undefined
    }
  }

  /** The bytes of a file that a message carries: `messages[0].file`. What it shows or says is data, as what customers write. */
  async readFile({ path = '' }: { path?: string | undefined }, options?: CallOptions): Promise<Blob> {
    // The key goes nowhere else.
    if (!/^\/api\/v2\/[\w/-]+$/.test(path)) throw new ParleyError('There is no such file: read the conversation again')
    return this.#call({ method: 'GET', path, isFile: true, isRepeatable: true, timeoutMs: fileTimeoutMs }, options)
  }

  /** As uploadFile, of any size that the channel takes: the bytes go as they are. Nothing is sent before an answer has its `upload_id`. */
  async uploadBlob(
    file: Blob,
    { conversation_id, ...query }: Omit<UploadFileInput, 'base64'>,
    options?: CallOptions,
  ): Promise<FileUploaded> {
    const path = pathOf('api', 'v2', 'conversations', conversation_id, 'files')
    const call = { method: 'POST', path, query, body: file, timeoutMs: fileTimeoutMs } as const
    // What came twice waits for an answer in vain, for a day.
    return this.#call({ ...call, isRepeatable: true }, options)
  }
}
