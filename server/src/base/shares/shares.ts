import { Turns, type TurnsOptions } from './turns.ts'
import { turnMs } from './waits.ts'
import { currentWork } from './work.ts'

/** Gives the place back. */
export type Leave = () => void

/** Places that the owners of work share in turns. */
export interface Shares {
  /** A place for the work that is being done: at once when there is one, else in its turn. Throws `TooBusy`. */
  enter(isLight?: boolean): Leave | Promise<Leave>
  load(): { open: number; waiting: number; refused: number }
}

/** Too many wait already, or somebody has waited for too long. Nothing was done. */
export class TooBusy extends Error {
  readonly code = 'TOO_BUSY'

  constructor(what: string) {
    super(`Too much is being asked of ${what} at once for this workspace`)
  }
}

export interface SharesOptions extends TurnsOptions {
  what: string
  maxWaitMs: number
}

export function createShares({ what, maxWaitMs, ...options }: SharesOptions): Shares {
  const turns = new Turns<() => void>(options)
  let refused = 0
  const leaverOf = (owner: string): Leave => {
    let isIn = true
    return () => {
      if (!isIn) return
      isIn = false
      for (const go of turns.end(owner, performance.now())) go()
    }
  }
  const refusal = () => {
    refused++
    return new TooBusy(what)
  }

  return {
    enter: (isLight = false) => {
      const { owner, lane, waits } = currentWork()
      let resolve = (_leave: Leave): void => {}
      let timer: NodeJS.Timeout | undefined
      const go = () => {
        clearTimeout(timer)
        resolve(leaverOf(owner))
      }
      const nowMs = performance.now()
      const answer = turns.ask(owner, lane, go, nowMs, isLight)
      if (answer === 'goes') return leaverOf(owner)
      if (answer === 'refused') throw refusal()
      return new Promise((wait, reject) => {
        resolve = wait
        if (waits === null) return
        const patienceMs = turnMs(waits.ms(nowMs), maxWaitMs)
        timer = setTimeout(() => void (turns.giveUp(owner, lane, go) && reject(refusal())), patienceMs)
      })
    },
    load: () => ({ open: turns.held, waiting: turns.waiting, refused }),
  }
}
