/** A running program with a database of its own, both of which can be killed. */
export interface Victim {
  /** The database's process now: another one once it has come back. */
  databasePid(): number
  /** Resolves when the database runs as another process than this one. */
  databaseBack(killedPid: number): Promise<void>
  /** Kills the program at once and resolves when it is gone. */
  killProgram(): Promise<void>
}

export interface KillRounds {
  rounds: number
  /** Starts the program on the same data as before; resolves once it takes work, without any manual step. */
  start(): Promise<Victim>
  /** Resolves after so many further acknowledged writes. */
  acknowledged(count: number): Promise<void>
}

export interface KillReport {
  victim: Victim
  /** How long each kill kept writes from being acknowledged. */
  outagesMs: number[]
}

type Target = 'program' | 'database' | 'both'

const targets: Target[] = ['program', 'database', 'both']
const maxWritesBetween = 25

/** Kills the program, its database or both in turn, amid writes. Leaves the last program running. */
export async function killRounds({ rounds, start, acknowledged }: KillRounds): Promise<KillReport> {
  const outagesMs: number[] = []
  let victim = await start()
  for (let round = 0; round < rounds; round++) {
    await acknowledged(1 + Math.floor(Math.random() * maxWritesBetween))
    const killedAt = performance.now()
    victim = await killOne(targets[round % targets.length] ?? 'both', victim, start)
    await acknowledged(1)
    outagesMs.push(performance.now() - killedAt)
  }
  return { victim, outagesMs }
}

async function killOne(target: Target, victim: Victim, start: () => Promise<Victim>): Promise<Victim> {
  const databasePid = victim.databasePid()
  if (target !== 'program') process.kill(databasePid, 'SIGKILL')
  if (target === 'database') {
    await victim.databaseBack(databasePid)
    return victim
  }
  await victim.killProgram()
  return start()
}

/** Counts what was acknowledged, and lets `killRounds` wait for more of it. */
export class Acknowledgements {
  readonly ids: string[] = []
  #waiting: { count: number; resolve: () => void }[] = []

  add(id: string): void {
    this.ids.push(id)
    const due = this.#waiting.filter(({ count }) => count <= this.ids.length)
    this.#waiting = this.#waiting.filter((wait) => !due.includes(wait))
    for (const { resolve } of due) resolve()
  }

  more(count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push({ count: this.ids.length + count, resolve })
    return promise
  }
}
