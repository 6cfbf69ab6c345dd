import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../server/src/base/clock.ts'
import type { Db } from '../../server/src/base/db.ts'
import { openKeyStore } from '../../server/src/base/encryption/key-store.ts'
import type { Keyring } from '../../server/src/base/encryption/keyring.ts'
import { newId } from '../../server/src/base/id.ts'
import { recordEvents } from '../../server/src/events/record.ts'
import { createSequencer } from '../../server/src/events/sequence.ts'
import { newLead } from '../../server/src/leads/lead/change.ts'
import { leadCreated } from '../../server/src/leads/lead/events.ts'
import type { Lead } from '../../server/src/leads/lead/lead.ts'
import { insertLeads } from '../../server/src/leads/lead/write.ts'
import { indexLeads } from '../../server/src/leads/search/index-leads.ts'
import { person } from '../people.ts'
import { benchMasterKey, makeWorkspace } from '../workspace.ts'

const writers = 8
/** Polling interval of the service for its scheduled jobs. */
const pauseMs = 1_000

interface Rate {
  perSecond: number
  longestMs: number
  /** Measured until the last lead had its tokens. */
  perSecondToLastToken: number
}

/**
 * Prints the cost of search tokens for inserts, and the longest insert. Both sides insert leads with their events,
 * which are then sequenced; on one side tokens are created concurrently.
 */
export async function runTokens(db: Db, rounds: number, durationMs: number): Promise<void> {
  const { workspaceId } = await makeWorkspace(db)
  const keyStore = openKeyStore(db, { current: benchMasterKey }, systemClock)
  const keyring = await keyStore.keyring(workspaceId)
  const index = async () => {
    while ((await indexLeads({ db, keyStore })) > 0);
  }
  const measured: { withTokens: Rate; without: Rate }[] = []
  for (let round = 0; round <= rounds; round++) {
    const withTokens = await insertFor(db, keyring, workspaceId, durationMs, index)
    const without = await insertFor(db, keyring, workspaceId, durationMs, async () => {})
    // Indexes the remaining leads now, so that the next round does not pay for it.
    await index()
    if (round > 0) measured.push({ withTokens, without })
  }
  const mean = (of: (pair: (typeof measured)[number]) => number) =>
    Math.round(measured.reduce((sum, pair) => sum + of(pair), 0) / measured.length)
  const longest = (of: (pair: (typeof measured)[number]) => number) => Math.max(...measured.map(of)).toFixed(0)
  console.log(
    `\n| inserts of one lead (${writers} writers) | per second | longest | to the last token, per second |\n|---|---|---|---|`,
  )
  console.log(
    `| with search tokens | ${mean((pair) => pair.withTokens.perSecond)} | ${longest((pair) => pair.withTokens.longestMs)} ms | ${mean((pair) => pair.withTokens.perSecondToLastToken)} |`,
  )
  console.log(
    `| without | ${mean((pair) => pair.without.perSecond)} | ${longest((pair) => pair.without.longestMs)} ms | ${mean((pair) => pair.without.perSecondToLastToken)} |`,
  )
  console.log(
    `with tokens, relative to without: ${spread(measured.map((pair) => pair.withTokens.perSecond / pair.without.perSecond))}`,
  )
  console.log(
    `to the last token: ${spread(measured.map((pair) => pair.withTokens.perSecondToLastToken / pair.without.perSecondToLastToken))}`,
  )
}

function spread(ratios: number[]): string {
  const sorted = [...ratios].sort((a, b) => a - b)
  const middle = sorted[Math.floor(sorted.length / 2)] ?? 0
  return `${middle.toFixed(2)} (${sorted[0]?.toFixed(2)}–${sorted.at(-1)?.toFixed(2)})`
}

let created = 0

async function insertFor(
  db: Db,
  keyring: Keyring,
  workspaceId: string,
  durationMs: number,
  index: () => Promise<void>,
): Promise<Rate> {
  const sequencer = createSequencer(db)
  const startedMs = performance.now()
  const endsMs = startedMs + durationMs
  let [inserted, longestMs] = [0, 0]
  const write = async () => {
    while (performance.now() < endsMs) {
      const lead = leadOf(created++)
      const beganMs = performance.now()
      await db.tx(async (tx) => {
        await Promise.all([
          insertLeads(tx, keyring, workspaceId, [lead]),
          recordEvents(tx, keyring, workspaceId, [leadCreated(lead)], lead.createdAt),
        ])
      })
      longestMs = Math.max(longestMs, performance.now() - beganMs)
      inserted++
    }
  }
  const follow = async () => {
    while (performance.now() < endsMs) {
      await sleep(Math.min(pauseMs, durationMs / 4, Math.max(0, endsMs - performance.now())))
      await sequencer.sequence(workspaceId)
      await index()
    }
  }
  const following = follow()
  await Promise.all(Array.from({ length: writers }, write))
  const wroteMs = performance.now() - startedMs
  await following
  await sequencer.sequence(workspaceId)
  await index()
  const allMs = performance.now() - startedMs
  return {
    perSecond: (inserted * 1000) / wroteMs,
    longestMs,
    perSecondToLastToken: (inserted * 1000) / allMs,
  }
}

function leadOf(n: number): Lead {
  const at = systemClock.now()
  return newLead({ fields: person(5_000_000 + n), phoneAsSent: null, typed: [], values: {} }, newId(at), '', at).lead
}
