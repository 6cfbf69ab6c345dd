import { asService } from '../shares/work.ts'

/** What listeners are told of a commit: a hint that may be lost, never the truth itself. */
export interface News {
  topic: string
  /** What it is about, such as a workspace. */
  id: string
}

/** Who is told of news, in this process. */
export interface NewsBoard {
  onNews(topic: string, listener: (id: string) => void): () => void
  /** Of what this process itself tells, whatever the topic. */
  onOwnNews(listener: (news: News) => void): () => void
  onHearingAgain(look: () => void): () => void
  /** Passes on what another process has told. */
  hear(news: News): void
  /** Says what this process tells: to those who hear the topic, and to those who pass it on. */
  tell(news: News): void
  /** Has those look who may have missed something. */
  hearAgain(): void
}

export function createNewsBoard(): NewsBoard {
  const listeners = new Map<string, Set<(id: string) => void>>()
  const ownListeners = new Set<(news: News) => void>()
  const looks = new Set<() => void>()
  const hear = ({ topic, id }: News) => {
    for (const listener of listeners.get(topic) ?? []) listener(id)
  }
  return {
    onNews: (topic, listener) => {
      const set = listeners.get(topic) ?? new Set()
      listeners.set(topic, set.add(listener))
      return () => void set.delete(listener)
    },
    onOwnNews: (listener) => {
      ownListeners.add(listener)
      return () => void ownListeners.delete(listener)
    },
    onHearingAgain: (look) => {
      looks.add(look)
      return () => void looks.delete(look)
    },
    hear,
    tell: (news) => {
      hear(news)
      for (const listener of ownListeners) listener(news)
    },
    hearAgain: () => {
      for (const look of looks) asService(look)
    },
  }
}
