import type { Clock } from '../../server/src/base/clock.ts'

/** Work that is due at a time of the simulated clock. */
export interface Agenda {
  /** Throws nothing: work that fails is reported to `onError`. Returns what drops the work if it was not done yet. */
  after(delayMs: number, work: () => void): () => void
  /** To be called when the clock has jumped: what is due now is done, what a jump back would strand keeps its distance. */
  clockMoved(byMs: number): void
  size(): number
  stop(): void
}

interface Task {
  dueMs: number
  work: () => void
}

const maxTasks = 20_000
const longestWaitMs = 60_000
const shortestWaitMs = 5

export function createAgenda(clock: Clock, onError: (error: unknown) => void): Agenda {
  const tasks: Task[] = []
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  function arm(): void {
    clearTimeout(timer)
    const next = tasks[0]
    if (next === undefined || stopped) return
    const waitMs = next.dueMs - clock.now().getTime()
    timer = setTimeout(runDue, waitMs <= 0 ? 0 : Math.min(Math.max(waitMs, shortestWaitMs), longestWaitMs))
  }

  function runNext(): void {
    try {
      tasks.shift()?.work()
    } catch (error) {
      onError(error)
    }
  }

  function runDue(): void {
    const nowMs = clock.now().getTime()
    for (let next = tasks[0]; next !== undefined && next.dueMs <= nowMs && !stopped; next = tasks[0]) runNext()
    arm()
  }

  return {
    after: (delayMs, work) => {
      if (stopped) return () => {}
      // Rather too early than a memory without bounds.
      if (tasks.length >= maxTasks) runNext()
      const task = { dueMs: clock.now().getTime() + delayMs, work }
      const later = tasks.findLastIndex(({ dueMs }) => dueMs <= task.dueMs)
      tasks.splice(later + 1, 0, task)
      if (tasks[0] === task) arm()
      return () => {
        const at = tasks.indexOf(task)
        if (at < 0) return
        tasks.splice(at, 1)
        if (at === 0) arm()
      }
    },
    clockMoved: (byMs) => {
      if (byMs < 0) for (const task of tasks) task.dueMs += byMs
      arm()
    },
    size: () => tasks.length,
    stop: () => {
      stopped = true
      clearTimeout(timer)
      tasks.length = 0
    },
  }
}
