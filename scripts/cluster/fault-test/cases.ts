import { setTimeout as wait } from 'node:timers/promises'
import { pidOf } from '../cluster-folder.ts'
import { type Database, databases, services } from '../machines.ts'
import { setConnected } from '../network.ts'
import { killMachine, signalAll, signalOne, until, waitForExit } from '../processes.ts'
import { members, postmasterOf, startDatabase, switchOver, ttlSeconds, waitUntilSettled } from '../up/databases.ts'
import { restart } from '../up/services.ts'

/** Context of a round. */
export interface RoundContext {
  /** Primary at the start of the round. */
  primary: Database
  /** Resolves after this many further acknowledged writes of leads. */
  waitForWrites(count: number): Promise<void>
  log(words: string): void
  /** Starts measuring the outage here: writes were impossible before by design. */
  startOutage(): void
}

export interface Case {
  name: string
  /** Title in the table. */
  title: string
  /** Causes the fault and repairs it; waits for acknowledged writes before the repair. */
  round(stage: RoundContext): Promise<void>
  maxOutageMs: number
  /** Whether requests may be answered with an error that asks for a retry. */
  allowsRefusals: boolean
}

const failoverMs = (ttlSeconds + 5) * 1000
const switchoverMs = 6_000
const timeoutMs = 120_000
const writesToRecover = 50
/** Longer than the statement timeout, so callers get retryable errors. */
const awayMs = 20_000

/** Resolves when the reachable servers report a primary other than `from`. */
async function waitForFailover(from: Database): Promise<void> {
  const isOther = ({ name, role }: { name: string; role: string }) => role === 'leader' && name !== from
  await until(async () => (await members()).some(isOther), 'another primary', timeoutMs)
}

async function waitForRecovery({ primary, waitForWrites }: RoundContext): Promise<void> {
  await waitForFailover(primary)
  await waitForWrites(writesToRecover)
}

const unplanned = { maxOutageMs: failoverMs, allowsRefusals: true }

export const cases: readonly Case[] = [
  {
    name: 'node-killed',
    title: 'node killed',
    ...unplanned,
    round: async (stage) => {
      await killMachine(stage.primary)
      await waitForRecovery(stage)
      startDatabase(stage.primary)
    },
  },
  {
    name: 'postmaster-killed',
    title: 'postmaster killed',
    ...unplanned,
    round: async ({ primary, waitForWrites }) => {
      const before = postmasterOf(primary)
      signalOne(before, 'SIGKILL')
      await waitForExit(before, 10_000)
      // Patroni restarts it, or promotes another server.
      const isAnother = async () => {
        const leader = (await members()).find(({ role, state }) => role === 'leader' && state === 'running')?.name
        return leader !== undefined && (leader !== primary || postmasterOf(primary) !== before)
      }
      await until(isAnother, 'a primary', timeoutMs)
      await waitForWrites(writesToRecover)
    },
  },
  {
    name: 'node-frozen',
    title: 'node frozen',
    ...unplanned,
    round: async (stage) => {
      await signalAll(stage.primary, 'SIGSTOP')
      await waitForRecovery(stage)
      await signalAll(stage.primary, 'SIGCONT')
    },
  },
  {
    name: 'network-cut',
    title: 'network cut',
    ...unplanned,
    round: async (stage) => {
      await setConnected(stage.primary, false)
      await waitForRecovery(stage)
      await setConnected(stage.primary, true)
    },
  },
  {
    name: 'standbys-away',
    title: `both standbys away for ${awayMs / 1000} s, from when one is back`,
    ...unplanned,
    round: async ({ primary, waitForWrites, startOutage }) => {
      const standbys = databases.filter((name) => name !== primary)
      await Promise.all(standbys.map(killMachine))
      await wait(awayMs)
      startOutage()
      for (const name of standbys) startDatabase(name)
      await waitForWrites(writesToRecover)
    },
  },
  {
    name: 'switchover',
    title: 'planned switchover',
    maxOutageMs: switchoverMs,
    allowsRefusals: false,
    round: async ({ waitForWrites }) => {
      await switchOver()
      await waitForWrites(writesToRecover)
    },
  },
  {
    name: 'rolling-services',
    title: 'rolling restart of apis and workers',
    maxOutageMs: switchoverMs,
    allowsRefusals: false,
    round: async ({ waitForWrites, log }) => {
      for (const name of services) {
        log(`restarting ${name}`)
        await restart(name)
        await waitForWrites(writesToRecover)
      }
    },
  },
  {
    name: 'rolling-databases',
    title: 'rolling restart of the databases',
    maxOutageMs: switchoverMs,
    allowsRefusals: false,
    round: async (stage) => {
      const standbys = databases.filter((name) => name !== stage.primary)
      for (const name of standbys) await restartDatabase(stage, name)
      await switchOver()
      await stage.waitForWrites(writesToRecover)
      await restartDatabase(stage, stage.primary)
    },
  },
]

async function restartDatabase({ log, waitForWrites }: RoundContext, name: Database): Promise<void> {
  log(`restarting ${name}`)
  const pid = pidOf(name)
  signalOne(pid, 'SIGTERM')
  await waitForExit(pid, 60_000)
  startDatabase(name)
  await waitUntilSettled()
  await waitForWrites(writesToRecover)
}
