/** A running program with a database of its own, both of which can be killed. */
export interface Victim {
  /** The database's process now: another one once it has come back. */
  databasePid(): number
  /** Resolves when the database runs as another process than this one. */
  databaseBack(killedPid: number): Promise<void>
  /** Kills the program at once and resolves when it is gone. */
  killProgram(): Promise<void>
}

const targets = ['program', 'database', 'both'] as const
const maxWritesBetween = 25

/** Kills the program, its database or both in turn, amid writes. Leaves the last program running. */
export async function killRounds(options: {
  rounds: number
  /** Starts the program on the same data as before; resolves once it takes work. */
  start(): Promise<Victim>
  /** Resolves after so many further acknowledged writes. */
  acknowledged(count: number): Promise<void>
}): Promise<{ victim: Victim; outagesMs: number[] }> {
  const { rounds, start, acknowledged } = options
  const outagesMs: number[] = []
  let victim = await start()
  for (let round = 0; round < rounds; round++) {
    await acknowledged(1 + Math.floor(Math.random() * maxWritesBetween))
    const killedAt = performance.now()
    const target = targets[round % targets.length]
    const databasePid = victim.databasePid()
    if (target !== 'program') process.kill(databasePid, 'SIGKILL')
    if (target === 'database') await victim.databaseBack(databasePid)
    else {
      await victim.killProgram()
      victim = await start()
    }
    await acknowledged(1)
    outagesMs.push(performance.now() - killedAt)
  }
  return { victim, outagesMs }
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
