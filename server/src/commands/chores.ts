import { sweepSignIns } from '../access/sweep.ts'
import type { House } from '../app.ts'
import { type Loop, startLoop } from '../base/loop.ts'
import { purgeDeletedLeads } from '../leads/purge.ts'

// Soon after the start as well: a process that is restarted often would never come to it.
const times = { firstAfterMs: 60_000, pauseMs: 3_600_000 }

/** What is to be done every hour, on any node: each chore lets several nodes do it at once. */
export function startChores({ db, clock, log }: House): Loop {
  const chores: Record<string, () => Promise<number | undefined>> = {
    'purge-deleted-leads': () => purgeDeletedLeads(db, clock),
    'sweep-sign-ins': async () => {
      await db.tx((tx) => sweepSignIns(tx, clock.now()))
      return undefined
    },
  }
  const loops = Object.entries(chores).map(([job, work]) =>
    startLoop(
      times,
      async () => {
        const count = await work()
        log.info('chore', { job, count })
      },
      (error) => log.error('chore failed', { job }, error),
    ),
  )
  return {
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}
