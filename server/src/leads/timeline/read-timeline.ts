import { decodeCursor, encodeCursor } from '../../base/cursor.ts'
import { invalid } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import { findLead } from '../lead/identify.ts'
import type { Lead, LeadDeps, LeadUser } from '../lead/lead.ts'
import { openLead } from '../lead/sealed.ts'
import { otherPhones } from '../lead/search-lines.ts'
import { listed } from '../merge/plan-merge.ts'
import {
  type EntryKind,
  newestFirst,
  type Position,
  type Stretch,
  type TimelineEntry,
  type TimelineFilter,
  timelineFilters,
} from './entries.ts'
import {
  selectChangeEntries,
  selectCreation,
  selectMergeEntries,
  selectNoteEntries,
  selectStatusEntries,
} from './queries.ts'

/** What other rooms know of a lead. */
export interface TimelineDeps extends LeadDeps {
  /** What was said in the conversations with phones, in any of their variants, and noted there. */
  talkOf(
    workspaceId: string,
    phones: readonly string[],
    wanted: { messages: boolean; notes: boolean },
    stretch: Stretch,
  ): Promise<TimelineEntry[]>
  /** What forms were sent by the lead. */
  submissionsOf(workspaceId: string, leadId: string, stretch: Stretch): Promise<TimelineEntry[]>
}

export interface TimelineRequest {
  limit: number
  before: Position | null
  filter: TimelineFilter | null
}

/** What was said, noted and changed of a lead, newest first. Throws 404 for a lead that is not there. */
export async function readLeadTimeline(
  deps: TimelineDeps,
  user: LeadUser,
  identifier: string,
  { limit, before, filter }: TimelineRequest,
): Promise<{ entries: TimelineEntry[]; nextCursor: string | null }> {
  const keyring = await deps.vault.keyring(user.workspaceId)
  const lead = openLead(keyring, await findLead(deps.db.sql, keyring, user, identifier))
  const wanted: ReadonlySet<EntryKind> | null = filter === null ? null : new Set(timelineFilters[filter])
  const found = await Promise.all(
    sourcesOf(deps, user.workspaceId, lead, { before, limit: limit + 1 }, (kind) => wanted?.has(kind) ?? true),
  )
  const entries = found.flat().sort(newestFirst)
  const shown = entries.slice(0, limit)
  const last = shown.at(-1)
  const nextCursor = entries.length > limit && last !== undefined ? writeCursor(last) : null
  return { entries: shown, nextCursor }
}

function sourcesOf(
  deps: TimelineDeps,
  workspaceId: string,
  lead: Lead,
  stretch: Stretch,
  wants: (kind: EntryKind) => boolean,
): Promise<TimelineEntry[]>[] {
  const { sql } = deps.db
  const sources: Promise<TimelineEntry[]>[] = []
  const [messages, notes] = [wants('message'), wants('note')]
  const phones = [...listed(lead.phone), ...otherPhones(lead)]
  if (phones.length > 0 && (messages || notes)) {
    sources.push(deps.talkOf(workspaceId, phones, { messages, notes }, stretch))
  }
  if (notes) {
    sources.push(
      deps.vault.withKeyring(workspaceId, (keyring) => selectNoteEntries(sql, keyring, workspaceId, lead.id, stretch)),
    )
  }
  if (wants('merged')) {
    const now = deps.clock.now()
    sources.push(
      deps.vault.withKeyring(workspaceId, (keyring) =>
        selectMergeEntries(sql, keyring, workspaceId, lead, stretch, now),
      ),
    )
  }
  if (!wants('fields')) return sources
  sources.push(
    selectStatusEntries(sql, workspaceId, lead.id, stretch),
    deps.vault.withKeyring(workspaceId, (keyring) => selectChangeEntries(sql, keyring, workspaceId, lead.id, stretch)),
    deps.submissionsOf(workspaceId, lead.id, stretch),
  )
  const creation = { id: lead.id, at: lead.createdAt }
  if (stretch.before === null || newestFirst(stretch.before, creation) < 0) {
    sources.push(selectCreation(sql, workspaceId, lead).then((entry) => [entry]))
  }
  return sources
}

const cursorKind = 'lead-timeline'
const lastMs = 253_402_300_799_999

const writeCursor = ({ at, id }: Position): string => encodeCursor([cursorKind, at.getTime(), id])

/** Throws `InvalidInput` for what no page has given. */
export function readTimelineCursor(text: string): Position {
  const [kind, time, id, extra] = decodeCursor(text) ?? []
  const isTime = Number.isSafeInteger(time) && Math.abs(Number(time)) <= lastMs
  if (kind !== cursorKind || !isTime || typeof id !== 'string' || !isUuid(id) || extra !== undefined) {
    throw invalid('cursor', 'is not a cursor of a timeline: send the nextCursor of a page', 'query')
  }
  return { at: new Date(Number(time)), id: id.toLowerCase() }
}
