import type { Repeat } from '../../src/base/async/loop.ts'

interface Repeated {
  pauseMs: number
  dueMs: number
  work: () => Promise<unknown>
}

/** Loops whose time passes when it is driven. */
export function drivenLoops(advance: (ms: number) => void) {
  const loops: Repeated[] = []
  const errors: unknown[] = []
  let nowMs = 0
  const repeat: Repeat = (pauseMs, work, onError) => {
    const guarded = async () => {
      await work().catch((error: unknown) => {
        errors.push(error)
        onError(error)
      })
    }
    loops.push({ pauseMs, dueMs: nowMs, work: guarded })
    return { stop: async () => {} }
  }
  const pass = async (ms: number) => {
    const endMs = nowMs + ms
    for (;;) {
      const next = loops.reduce((first, loop) => (loop.dueMs < first.dueMs ? loop : first))
      if (next.dueMs > endMs) break
      advance(next.dueMs - nowMs)
      nowMs = next.dueMs
      await next.work()
      next.dueMs += next.pauseMs
    }
    advance(endMs - nowMs)
    nowMs = endMs
  }
  return { repeat, pass, errors }
}
