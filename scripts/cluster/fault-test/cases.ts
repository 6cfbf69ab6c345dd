import { setTimeout as wait } from 'node:timers/promises'
import { type Database, databases, services } from '../machines.ts'
import { setPlugged } from '../network.ts'
import { pidOf } from '../place.ts'
import { gone, killMachine, signalAll, signalOne, until } from '../processes.ts'
import { members, postmasterOf, settled, startDatabase, switchOver, ttlSeconds } from '../up/databases.ts'
import { restart } from '../up/services.ts'

/** Context of a round. */
export interface Stage {
  /** Primary at the start of the round. */
  primary: Database
  /** Resolves after this many further acknowledged writes of leads. */
  written(count: number): Promise<void>
  tell(words: string): void
  /** Starts measuring the outage here: writes were impossible before by design. */
  countFromHere(): void
}

export interface Case {
  name: string
  /** Title in the table. */
  title: string
  /** Causes the fault and repairs it; waits for acknowledged writes before the repair. */
  round(stage: Stage): Promise<void>
  longestOutageMs: number
  /** Whether requests may be answered with an error that asks for a retry. */
  mayRefuse: boolean
}

const failoverMs = (ttlSeconds + 5) * 1000
const switchoverMs = 6_000
const patienceMs = 120_000
const enough = 50
/** Longer than the statement timeout, so callers get retryable errors. */
const awayMs = 20_000

/** Resolves when the reachable servers report a primary other than `from`. */
async function moved(from: Database): Promise<void> {
  const isOther = ({ name, role }: { name: string; role: string }) => role === 'leader' && name !== from
  await until(async () => (await members()).some(isOther), 'another primary', patienceMs)
}

async function movedAndWritten({ primary, written }: Stage): Promise<void> {
  await moved(primary)
  await written(enough)
}

const unplanned = { longestOutageMs: failoverMs, mayRefuse: true }

export const cases: readonly Case[] = [
  {
    name: 'node-killed',
    title: 'node killed',
    ...unplanned,
    round: async (stage) => {
      await killMachine(stage.primary)
      await movedAndWritten(stage)
      startDatabase(stage.primary)
    },
  },
  {
    name: 'postmaster-killed',
    title: 'postmaster killed',
    ...unplanned,
    round: async ({ primary, written }) => {
      const before = postmasterOf(primary)
      signalOne(before, 'SIGKILL')
      await gone(before, 10_000)
      // Patroni restarts it, or promotes another server.
      const isAnother = async () => {
        const leader = (await members()).find(({ role, state }) => role === 'leader' && state === 'running')?.name
        return leader !== undefined && (leader !== primary || postmasterOf(primary) !== before)
      }
      await until(isAnother, 'a primary', patienceMs)
      await written(enough)
    },
  },
  {
    name: 'node-frozen',
    title: 'node frozen',
    ...unplanned,
    round: async (stage) => {
      await signalAll(stage.primary, 'SIGSTOP')
      await movedAndWritten(stage)
      await signalAll(stage.primary, 'SIGCONT')
    },
  },
  {
    name: 'network-cut',
    title: 'network cut',
    ...unplanned,
    round: async (stage) => {
      await setPlugged(stage.primary, false)
      await movedAndWritten(stage)
      await setPlugged(stage.primary, true)
    },
  },
  {
    name: 'standbys-away',
    title: `both standbys away for ${awayMs / 1000} s, from when one is back`,
    ...unplanned,
    round: async ({ primary, written, countFromHere }) => {
      const standbys = databases.filter((name) => name !== primary)
      await Promise.all(standbys.map(killMachine))
      await wait(awayMs)
      countFromHere()
      for (const name of standbys) startDatabase(name)
      await written(enough)
    },
  },
  {
    name: 'switchover',
    title: 'planned switchover',
    longestOutageMs: switchoverMs,
    mayRefuse: false,
    round: async ({ written }) => {
      await switchOver()
      await written(enough)
    },
  },
  {
    name: 'rolling-services',
    title: 'rolling restart of apis and workers',
    longestOutageMs: switchoverMs,
    mayRefuse: false,
    round: async ({ written, tell }) => {
      for (const name of services) {
        tell(`restarting ${name}`)
        await restart(name)
        await written(enough)
      }
    },
  },
  {
    name: 'rolling-databases',
    title: 'rolling restart of the databases',
    longestOutageMs: switchoverMs,
    mayRefuse: false,
    round: async (stage) => {
      const standbys = databases.filter((name) => name !== stage.primary)
      for (const name of standbys) await restartDatabase(stage, name)
      await switchOver()
      await stage.written(enough)
      await restartDatabase(stage, stage.primary)
    },
  },
]

async function restartDatabase({ tell, written }: Stage, name: Database): Promise<void> {
  tell(`restarting ${name}`)
  const pid = pidOf(name)
  signalOne(pid, 'SIGTERM')
  await gone(pid, 60_000)
  startDatabase(name)
  await settled()
  await written(enough)
}
