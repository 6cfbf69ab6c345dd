import { singleFlightByKey } from '../../base/async/batch.ts'
import type { ChannelEvent } from '../../channels/channel-event.ts'
import {
  type ConsentDecision,
  type ConsentKeywords,
  keywordDecision,
  mayBeKeyword,
  parseKeywords,
} from '../../consents/consent.ts'
import type { InboxDeps } from '../conversation/conversation.ts'

// A workspace's words rarely change, and each short message asks for them.
const ttlMs = 4_000
const maxWorkspaces = 5_000

export const noKeywords: ConsentKeywords = { optOut: new Set(), optIn: new Set() }

/** Creates the function that returns a workspace's keywords; a change takes effect within some seconds. */
export function createKeywordReader({ db, clock }: Pick<InboxDeps, 'db' | 'clock'>) {
  const entries = new Map<string, { keywords: ConsentKeywords; readAtMs: number }>()
  const findFresh = (workspaceId: string): ConsentKeywords | null => {
    const entry = entries.get(workspaceId)
    const ageMs = entry === undefined ? ttlMs : clock.now().getTime() - entry.readAtMs
    return entry !== undefined && ageMs >= 0 && ageMs < ttlMs ? entry.keywords : null
  }
  const load = singleFlightByKey(async (workspaceId: string): Promise<ConsentKeywords> => {
    const readAtMs = clock.now().getTime()
    const [row] = await db.sql<{ optOut: string[]; optIn: string[] }[]>`
      select opt_out_keywords as "optOut", opt_in_keywords as "optIn"
      from workspaces
      where id = ${workspaceId}`
    const keywords = row === undefined ? noKeywords : parseKeywords(row.optOut, row.optIn)
    const [oldest] = entries.keys()
    if (entries.size >= maxWorkspaces && oldest !== undefined) entries.delete(oldest)
    entries.delete(workspaceId)
    entries.set(workspaceId, { keywords, readAtMs })
    return keywords
  })
  /** Returns the keywords for these events. Reads nothing unless one of them is short enough. */
  return async (workspaceId: string, events: readonly ChannelEvent[]): Promise<ConsentKeywords> => {
    if (!events.some((event) => isText(event) && mayBeKeyword(event.text))) return noKeywords
    return findFresh(workspaceId) ?? load(workspaceId)
  }
}

export type ReadKeywords = ReturnType<typeof createKeywordReader>

/** Returns what a customer's message decides if it consists of a keyword. */
export const decisionIn = (event: ChannelEvent, keywords: ConsentKeywords): ConsentDecision | null =>
  isText(event) ? keywordDecision(event.text, keywords) : null

// A notice of the platform about the customer is not the customer's word, and neither is one from the phone's history.
const isText = (event: ChannelEvent): event is Extract<ChannelEvent, { type: 'message' }> =>
  event.type === 'message' && event.opensWindow && event.kind === 'text'
