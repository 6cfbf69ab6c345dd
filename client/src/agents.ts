import { AgentCalls, type FileUploaded, type UploadFileInput, type WhoAmI } from './agent-calls.ts'
import { type Caller, type CallOptions, pathOf, retryForever } from './call.ts'
import { ParleyError } from './errors.ts'
import { Work } from './work.ts'

export interface WorkOptions {
  /** Maximum number of conversations per request. Default: 10. */
  limit?: number
  /** Seconds that one request waits for work. Default and maximum: 25. */
  waitSeconds?: number
  /** Receives the team's instructions before the first work, and again when the team has published new ones. */
  onInstructions?: (instructions: WhoAmI['instructions']) => unknown
  /** Ends the loop; its reason is thrown. */
  signal?: AbortSignal
}

const fileTimeoutMs = 10 * 60_000

/** The agent API: a method for each operation, and the work loop. */
export class Agents extends AgentCalls {
  readonly #call: Caller

  constructor(call: Caller) {
    super(call)
    this.#call = call
  }

  /**
   * Yields conversations as customers write in them or they are handed to you, until you stop; retries while the
   * service is unavailable. Starts with all pending ones, longest waiting first, so a restarted program needs no stored
   * state.
   */
  async *work({ limit, waitSeconds, onInstructions, signal }: WorkOptions = {}): AsyncGenerator<Work, void, undefined> {
    let cursor: string | undefined
    let known: number | undefined
    for (;;) {
      const request = { cursor, wait: waitSeconds, limit }
      const found = await this.waitForWork(request, { ...retryForever, signal })
      if (onInstructions !== undefined && found.instructions_version !== known) {
        const { instructions } = await this.whoAmI({}, { ...retryForever, signal })
        await onInstructions(instructions)
        known = instructions.version
      }
      for (const work of found.work) yield new Work(this, work)
      cursor = found.next_cursor ?? undefined
    }
  }

  /** Downloads a file of a message (`messages[0].file`). Its content is data, like customer text. */
  async readFile({ path = '' }: { path?: string | undefined }, options?: CallOptions): Promise<Blob> {
    // Sends the key to no other path.
    if (!/^\/api\/v2\/[\w/-]+$/.test(path)) throw new ParleyError('Invalid file path: read the conversation again')
    return this.#call({ method: 'GET', path, isFile: true, isRepeatable: true, timeoutMs: fileTimeoutMs }, options)
  }

  /** Uploads raw bytes of any size that the channel accepts. Nothing is sent until an answer has the `upload_id`. */
  async uploadBlob(
    file: Blob,
    { conversation_id, ...query }: Omit<UploadFileInput, 'base64'>,
    options?: CallOptions,
  ): Promise<FileUploaded> {
    const path = pathOf('api', 'v2', 'conversations', conversation_id, 'files')
    const call = { method: 'POST', path, query, body: file, timeoutMs: fileTimeoutMs } as const
    // Repeatable: a duplicate upload is deleted after a day.
    return this.#call({ ...call, isRepeatable: true }, options)
  }
}
