/** Running program with its own database, both of which can be killed. */
export interface Victim {
  /** Process id of the database; changes after a recovery. */
  databasePid(): number
  /** Resolves when the database runs in a process other than this one. */
  databaseBack(killedPid: number): Promise<void>
  /** Kills the program and resolves when it has exited. */
  killProgram(): Promise<void>
}

const targets = ['program', 'database', 'both'] as const
const maxWritesBetween = 25

/** Kills the program, its database or both in turn during writes. Leaves the last program running. */
export async function killRounds(options: {
  rounds: number
  /** Starts the program on the same data; resolves when it accepts work. */
  start(): Promise<Victim>
  /** Resolves after this many further acknowledged writes. */
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

/** Counts acknowledgments, and lets `killRounds` wait for more. */
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
