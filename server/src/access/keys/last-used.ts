import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/db.ts'
import type { Caller } from './caller.ts'
import { recordKeyUses } from './queries.ts'

const flushEveryMs = 5000
const perKeyMs = 60_000

export interface LastUsed {
  note(caller: Caller): void
  /** Writes what is due. A failure keeps it for the next time. */
  flush(): Promise<void>
  /** Writes everything that is left. */
  close(): Promise<void>
}

interface Use {
  workspaceId: string
  keyId: string
  at: Date
  writtenAt: Date | null
}

/** Notes uses in memory and writes them in batches, at most once a minute for each key. A crash loses a minute. */
export function createLastUsed(db: Db, clock: Clock): LastUsed {
  let uses = new Map<string, Use>()

  function note(caller: Caller): void {
    const use = uses.get(caller.keyId)
    if (use !== undefined) use.at = clock.now()
    else {
      const { workspaceId, keyId } = caller
      uses.set(keyId, { workspaceId, keyId, at: clock.now(), writtenAt: null })
    }
  }

  async function write(due: (use: Use) => boolean): Promise<void> {
    const batch = [...uses.values()].filter(due).map((use) => ({ ...use }))
    if (batch.length === 0) return
    await db.tx((tx) => recordKeyUses(tx, batch))
    for (const { keyId, at } of batch) {
      const use = uses.get(keyId)
      if (use !== undefined) use.writtenAt = at
    }
  }

  async function flush(): Promise<void> {
    await write((use) => use.writtenAt === null || elapsedMs(use.writtenAt, use.at) >= perKeyMs)
    const now = clock.now()
    const isIdle = (use: Use) => use.writtenAt !== null && elapsedMs(use.at, now) >= perKeyMs
    uses = new Map([...uses].filter(([, use]) => !isIdle(use)))
  }

  const timer = setInterval(() => flush().catch(() => {}), flushEveryMs).unref()

  return {
    note,
    flush,
    close: async () => {
      clearInterval(timer)
      await write((use) => use.writtenAt === null || use.at > use.writtenAt)
    },
  }
}

function elapsedMs(from: Date, to: Date): number {
  return to.getTime() - from.getTime()
}
