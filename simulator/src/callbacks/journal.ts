/** What passed between the service and the platform, newest last; for the tests and for the curious. */
export type JournalEntry =
  | { kind: 'call'; at: Date; method: string; path: string; body: unknown }
  | { kind: 'webhook'; at: Date; numberId: string; attempt: number; outcome: string; body: string | null }

export interface Journal {
  add(entry: JournalEntry): void
  list(): JournalEntry[]
  clear(): void
}

const maxEntries = 300
const maxBodyChars = 20_000

export function createJournal(): Journal {
  const entries: JournalEntry[] = []
  return {
    add: (entry) => {
      const isLong =
        (typeof entry.body === 'string' ? entry.body : JSON.stringify(entry.body ?? null)).length > maxBodyChars
      entries.push(isLong ? { ...entry, body: null } : entry)
      if (entries.length > maxEntries) entries.shift()
    },
    list: () => [...entries],
    clear: () => {
      entries.length = 0
    },
  }
}
