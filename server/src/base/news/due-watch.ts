import type { Clock } from '../clock.ts'
import type { Db } from '../db.ts'

/** Whether there is something to do now, for those who else would ask the database each second. */
export interface DueWatch {
  /** Asks the database after news, at the time that it has told, and now and then: they may have been lost. */
  isDue(): Promise<boolean>
  /** Has the next call ask. */
  askAgain(): void
}

export interface DueWatchOptions {
  /**
   * When the first of what is to be done is due, by the clock of this process; null when there is nothing. It may answer too
   * early, and never too late.
   */
  nextAt(now: Date): Promise<Date | null>
  /** How often it is asked whatever was heard. What comes due later than this after it was written needs no news. */
  askEveryMs: number
  /** How long it is not asked again for the sake of news; not at all unless given. */
  restMs?: number
  news?: readonly HeardTopic[]
}

export interface HeardTopic {
  topic: string
  /** Of which news there may be something due; of all unless given. */
  concerns?: (id: string) => boolean
}

/** It says that something is due for as long as it finds so: who is told of it does it, or leaves it to others. */
export function watchDue(
  { db, clock }: { db: Pick<Db, 'onNews' | 'onHearingAgain' | 'isHearing'>; clock: Clock },
  { nextAt, askEveryMs, restMs = 0, news = [] }: DueWatchOptions,
): DueWatch {
  let askedAtMs = Number.NEGATIVE_INFINITY
  let askAtMs = Number.NEGATIVE_INFINITY
  let hasHeard = false
  const askAgain = () => {
    askAtMs = Number.NEGATIVE_INFINITY
    hasHeard = true
  }
  const hear = () => {
    askAtMs = Math.min(askAtMs, askedAtMs + restMs)
    hasHeard = true
  }
  for (const { topic, concerns } of news) {
    db.onNews(topic, (id) => {
      if (concerns === undefined || concerns(id)) hear()
    })
  }
  db.onHearingAgain(askAgain)
  return {
    askAgain,
    isDue: async () => {
      const now = clock.now()
      const nowMs = now.getTime()
      // A clock that was set back must not keep anybody from asking, and who is deaf asks each time.
      const isTooSoon = nowMs >= askedAtMs && nowMs < askAtMs
      if (db.isHearing() && isTooSoon) return false
      askedAtMs = nowMs
      // Until it has answered, and while something is due.
      askAtMs = Number.NEGATIVE_INFINITY
      hasHeard = false
      const dueAtMs = (await nextAt(now))?.getTime() ?? Number.POSITIVE_INFINITY
      if (dueAtMs <= nowMs) return true
      // What was announced meanwhile may have been too late for the answer.
      const nextMs = hasHeard ? nowMs + restMs : nowMs + askEveryMs
      askAtMs = Math.min(dueAtMs, nextMs)
      return false
    },
  }
}
