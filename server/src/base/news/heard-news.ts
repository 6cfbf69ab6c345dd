import type { Clock } from '../clock.ts'
import type { Db } from '../db.ts'

/** What is to be looked at, by those who act on news and know that news may be lost. */
export interface HeardNews {
  /** What was told of since the last call, each once; null when all is to be looked at, since some may not have been told. */
  take(): string[] | null
  /** Whether there is anything to look at. */
  hasSome(): boolean
  /** Has the next call answer with all: what was taken was not looked at to its end. */
  missed(): void
}

export interface HearingOptions {
  topics: readonly string[]
  /** How often all is looked at, whatever was heard. */
  allEveryMs: number
}

/** More are not worth being told apart. */
const maxIds = 10_000

/** Gathers the ids that news of these topics are about. All is to be looked at first, and after the process was deaf. */
export function hearNews(
  { db, clock }: { db: Pick<Db, 'onNews' | 'onHearingAgain' | 'isHearing'>; clock: Clock },
  { topics, allEveryMs }: HearingOptions,
): HeardNews {
  const ids = new Set<string>()
  let allAtMs = Number.NEGATIVE_INFINITY
  const missed = () => {
    ids.clear()
    allAtMs = Number.NEGATIVE_INFINITY
  }
  const hear = (id: string) => {
    ids.add(id)
    if (ids.size > maxIds) missed()
  }
  for (const topic of topics) db.onNews(topic, hear)
  db.onHearingAgain(missed)
  const isAll = (nowMs: number): boolean => {
    // A clock that was set back must not keep anybody from looking.
    const isRecent = nowMs >= allAtMs && nowMs < allAtMs + allEveryMs
    return !db.isHearing() || !isRecent
  }
  return {
    missed,
    hasSome: () => ids.size > 0 || isAll(clock.now().getTime()),
    take: () => {
      const heard = [...ids]
      ids.clear()
      const nowMs = clock.now().getTime()
      if (!isAll(nowMs)) return heard
      allAtMs = nowMs
      return null
    },
  }
}
