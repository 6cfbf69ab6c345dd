import { sweepSignIns } from '../access/sweep.ts'
import type { House } from '../app-house.ts'
import { templateDeps } from '../app-inbox.ts'
import { keyedTables } from '../app-keys.ts'
import { type Loop, startLoop } from '../base/loop.ts'
import { syncDueTemplates } from '../channels/sync-templates.ts'
import { handBackLapsed, runWatchdog } from '../inbox/hand-back.ts'
import { sweepParked } from '../inbox/parked.ts'
import { wakeSnoozed } from '../inbox/wake-snoozed.ts'
import { purgeDeletedLeads } from '../leads/purge.ts'
import { workOnRotations } from '../rotation/work.ts'

// Soon after the start as well: a process that is restarted often would never come to it.
const hourly = { firstAfterMs: 60_000, pauseMs: 3_600_000 }
/** Whoever waits for a conversation to change hands is a customer. */
const steady = { firstAfterMs: 1_000, pauseMs: 3_000 }

type Chores = Record<string, () => Promise<number | undefined>>

/** What is to be done again and again, on any node: each chore lets several nodes do it at once. */
export function startChores(house: House): Loop {
  const { db, vault, clock, log } = house
  const hourlyChores: Chores = {
    'sweep-parked-statuses': () => sweepParked(db, clock.now()),
    'purge-deleted-leads': () => purgeDeletedLeads(db, clock),
    'sweep-sign-ins': async () => {
      await db.tx((tx) => sweepSignIns(tx, clock.now()))
      return undefined
    },
  }
  const templates = templateDeps(house)
  const rotations = { db, vault, clock, tables: keyedTables }
  const steadyChores: Chores = {
    'read-templates': () => syncDueTemplates(templates),
    'wake-snoozed': () => wakeSnoozed(db, clock),
    'hand-back-lapsed': () => handBackLapsed(db, vault, clock),
    'agent-watchdog': () => runWatchdog(db, vault, clock),
    'rotate-keys': () => workOnRotations(rotations),
  }
  const start = (times: typeof hourly, chores: Chores) =>
    Object.entries(chores).map(([job, work]) =>
      startLoop(
        times,
        async () => {
          const count = await work()
          if (times === hourly || count !== 0) log.info('chore', { job, count })
        },
        (error) => log.error('chore failed', { job }, error),
      ),
    )
  const loops = [...start(hourly, hourlyChores), ...start(steady, steadyChores)]
  return {
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}
