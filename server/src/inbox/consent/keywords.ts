import { singleFlightByKey } from '../../base/async/batch.ts'
import type { Db } from '../../base/db.ts'
import type { ChannelEvent } from '../../channels/channel-event.ts'
import {
  type ConsentDecision,
  type ConsentKeywords,
  keywordDecision,
  mayBeKeyword,
  parseKeywords,
} from '../../consents/consent.ts'
import { liveUpdatesTopic, readLiveUpdate } from '../../team/live-updates.ts'

// A live update removes changed words; this limit covers updates that are lost.
const ttlMs = 60_000
const maxWorkspaces = 5_000

export const noKeywords: ConsentKeywords = { optOut: new Set(), optIn: new Set() }

/** Returns the keywords of a workspace. */
export type ReadKeywords = (workspaceId: string, events: readonly ChannelEvent[]) => Promise<ConsentKeywords>

// Per database, because several parts of a process receive messages.
const readers = new WeakMap<Db, ReadKeywords>()

/**
 * Returns the function that reads the keywords for events. It reads nothing unless one of them is short enough to be
 * one, and then once a minute and workspace: almost every conversation has short messages.
 */
export function keywordReader(db: Db): ReadKeywords {
  const reader = readers.get(db) ?? createReader(db)
  readers.set(db, reader)
  return reader
}

function createReader(db: Db): ReadKeywords {
  const entries = new Map<string, { keywords: ConsentKeywords; readAtMs: number }>()
  let generation = 0
  db.subscribe(liveUpdatesTopic, (payload) => {
    const update = readLiveUpdate(payload)
    if (update?.name !== 'team.workspace.changed') return
    generation++
    entries.delete(update.workspaceId)
  })
  db.onReconnect(() => {
    generation++
    entries.clear()
  })
  const load = singleFlightByKey(async (workspaceId: string): Promise<ConsentKeywords> => {
    const [startGeneration, readAtMs] = [generation, performance.now()]
    const [row] = await db.sql<{ optOut: string[]; optIn: string[] }[]>`
      select opt_out_keywords as "optOut", opt_in_keywords as "optIn"
      from workspaces
      where id = ${workspaceId}`
    const keywords = row === undefined ? noKeywords : parseKeywords(row.optOut, row.optIn)
    // Words that were read before a change may be old: they are used once.
    if (startGeneration !== generation) return keywords
    const [oldest] = entries.keys()
    if (entries.size >= maxWorkspaces && oldest !== undefined) entries.delete(oldest)
    entries.delete(workspaceId)
    entries.set(workspaceId, { keywords, readAtMs })
    return keywords
  })
  return async (workspaceId, events) => {
    if (!events.some((event) => isText(event) && mayBeKeyword(event.text))) return noKeywords
    const entry = entries.get(workspaceId)
    return entry !== undefined && performance.now() - entry.readAtMs < ttlMs ? entry.keywords : load(workspaceId)
  }
}

/** Returns what a customer's message decides if it consists of a keyword. */
export const decisionIn = (event: ChannelEvent, keywords: ConsentKeywords): ConsentDecision | null =>
  isText(event) ? keywordDecision(event.text, keywords) : null

// A notice of the platform about the customer is not the customer's word, and neither is one from the phone's history.
const isText = (event: ChannelEvent): event is Extract<ChannelEvent, { type: 'message' }> =>
  event.type === 'message' && event.opensWindow && event.kind === 'text'
