import { systemClock } from '../server/src/base/clock.ts'
import type { Db } from '../server/src/base/db.ts'
import { newId } from '../server/src/base/id.ts'
import type { Keyring } from '../server/src/base/keyring.ts'
import { openVault } from '../server/src/base/vault.ts'
import { newLead } from '../server/src/leads/change.ts'
import type { Lead } from '../server/src/leads/lead.ts'
import { insertLeads, insertRows } from '../server/src/leads/write.ts'
import { person } from './people.ts'
import { benchMasterKey, makeWorkspace } from './workspace.ts'

const writers = 8

/** Prints what search tokens cost an insert, and the longest that one had to wait, in a database with so many leads. */
export async function runTokens(db: Db, rounds: number, durationMs: number): Promise<void> {
  const { workspaceId } = await makeWorkspace(db)
  const keyring = await openVault(db, { current: benchMasterKey }, systemClock).keyring(workspaceId)
  const shares: number[] = []
  const [longest, rates] = [
    { with: 0, without: 0 },
    { with: 0, without: 0 },
  ]
  for (let round = 0; round <= rounds; round++) {
    const withTokens = await insertFor(db, keyring, workspaceId, durationMs, true)
    const without = await insertFor(db, keyring, workspaceId, durationMs, false)
    if (round === 0) continue
    shares.push(withTokens.perSecond / without.perSecond)
    longest.with = Math.max(longest.with, withTokens.longestMs)
    longest.without = Math.max(longest.without, without.longestMs)
    rates.with += withTokens.perSecond / rounds
    rates.without += without.perSecond / rounds
  }
  shares.sort((a, b) => a - b)
  const middle = shares[Math.floor(shares.length / 2)] ?? 0
  const spread = `${shares[0]?.toFixed(2)}–${shares.at(-1)?.toFixed(2)}`
  console.log(`\n| inserts of one lead (${writers} writers) | a second | longest |\n|---|---|---|`)
  console.log(`| with search tokens | ${Math.round(rates.with)} | ${longest.with.toFixed(0)} ms |`)
  console.log(`| without | ${Math.round(rates.without)} | ${longest.without.toFixed(0)} ms |`)
  console.log(`with tokens, of those without: ${middle.toFixed(2)} (${spread})`)
}

let made = 0

async function insertFor(db: Db, keyring: Keyring, workspaceId: string, durationMs: number, hasTokens: boolean) {
  const startedMs = performance.now()
  let [inserted, longestMs] = [0, 0]
  const write = async () => {
    while (performance.now() < startedMs + durationMs) {
      const lead = leadOf(made++)
      const beganMs = performance.now()
      await db.tx(async (tx) => {
        if (hasTokens) await insertLeads(tx, keyring, workspaceId, [lead])
        else await insertRows(tx, keyring, workspaceId, [lead], tx`true`)
      })
      longestMs = Math.max(longestMs, performance.now() - beganMs)
      inserted++
    }
  }
  await Promise.all(Array.from({ length: writers }, write))
  return { perSecond: (inserted * 1000) / (performance.now() - startedMs), longestMs }
}

function leadOf(n: number): Lead {
  const at = systemClock.now()
  return newLead({ fields: person(5_000_000 + n), phoneAsSent: null, typed: [], values: {} }, newId(at), '', at).lead
}
