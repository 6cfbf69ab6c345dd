import type { Db } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { ApiError } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import type { SandboxDeps } from './sandbox.ts'

/** Calls of a sandbox that are recorded; later ones are not. */
const maxCalls = 2000
/** Longest recorded answer, in characters. */
const maxAnswer = 32_768
const maxInput = 8192
/** Takes the place of a tool's name when the agent has connected. */
const connected = 'connected'

interface CallContent {
  input: Record<string, unknown>
  /** JSON, cut. */
  answer: string
}

/** A call of an agent in a sandbox. */
export interface SandboxCall extends CallContent {
  tool: string
  code: string | null
  at: Date
}

export type RecordCall = <T extends object>(
  caller: { workspaceId: string },
  tool: string,
  input: Record<string, unknown>,
  run: () => Promise<T>,
) => Promise<T>

const placeOf = (id: string) => ({ table: 'sandbox_calls', row: id, column: 'content' })

/** Returns a function that runs a tool and records its call, for keys of sandboxes. */
export function createCallRecorder({ db, keyStore, clock }: SandboxDeps): RecordCall {
  const counts = new Map<string, number>()
  const record = async (workspaceId: string, tool: string, code: string | null, content: CallContent) => {
    const count = counts.get(workspaceId) ?? 0
    if (count >= maxCalls) return
    counts.set(workspaceId, count + 1)
    // The oldest sandbox has ended long ago.
    const [oldest] = counts.keys()
    if (counts.size > 100 && oldest !== undefined) counts.delete(oldest)
    const now = clock.now()
    const id = newId(now)
    const keyring = await keyStore.keyring(workspaceId)
    const sealed = keyring.encrypt(placeOf(id), JSON.stringify(content))
    await db.tx(
      (tx) => tx`
        insert into sandbox_calls (workspace_id, id, tool, code, content, called_at)
        values (${workspaceId}, ${id}, ${tool}, ${code}, ${sealed}, ${now})`,
    )
  }
  return async ({ workspaceId }, tool, input, run) => {
    const isFirst = !counts.has(workspaceId)
    const kept = JSON.stringify(input).length > maxInput ? {} : input
    // Its first call may wait for half a minute.
    if (isFirst) await record(workspaceId, connected, null, { input: {}, answer: '' })
    try {
      const answer = await run()
      const isEmpty = 'work' in answer && Array.isArray(answer.work) && answer.work.length === 0
      if (!isEmpty) await record(workspaceId, tool, null, { input: kept, answer: shorten(answer) })
      return answer
    } catch (error) {
      if (error instanceof ApiError) {
        const code = typeof error.data?.code === 'string' ? error.data.code : String(error.statusCode)
        await record(workspaceId, tool, code, { input: kept, answer: shorten(error.data ?? {}) })
      }
      throw error
    }
  }
}

const shorten = (answer: object): string => JSON.stringify(answer).slice(0, maxAnswer).toWellFormed()

/** Returns the recorded calls of a sandbox, oldest first. */
export async function listSandboxCalls(db: Db, keyring: Keyring, workspaceId: string): Promise<SandboxCall[]> {
  const rows = await db.sql<{ id: string; tool: string; code: string | null; content: Buffer; at: Date }[]>`
    select id, tool, code, content, called_at as at
    from sandbox_calls
    where workspace_id = ${workspaceId}
      and tool <> ${connected}
    order by id
    limit ${maxCalls}`
  return rows.map(({ id, tool, code, content, at }) => {
    const { input, answer } = JSON.parse(keyring.decryptText(placeOf(id), content)) as CallContent
    return { tool, code, at, input, answer }
  })
}

/** Whether an agent has called anything in a sandbox. */
export async function isAgentConnected(db: Db, workspaceId: string): Promise<boolean> {
  const rows = await db.sql`
    select id
    from sandbox_calls
    where workspace_id = ${workspaceId}
    limit 1`
  return rows.length > 0
}
