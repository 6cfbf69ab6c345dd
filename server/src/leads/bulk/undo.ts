import type { Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { findNonMembers } from '../../workspace/workspace.ts'
import type { Lead, LeadDeps, LeadUser } from '../lead/lead.ts'
import { openLead } from '../lead/sealed.ts'
import { hide, lockLive } from '../write/remove.ts'
import { restoreLeads, takenNames } from '../write/restore.ts'
import { writeOutcomes } from '../write/upsert.ts'
import type { BulkChangeRow } from './bulk-changes.ts'
import { type FormerValues, type ItemRow, openFormerValues } from './items.ts'

type Advance = (tx: Tx, progress: { undone: number; kept: number }) => Promise<void>

/** Gives a batch of leads back what they had; leads that somebody changed since are left as they are, and counted. */
export async function undoBatch(
  deps: LeadDeps,
  user: LeadUser,
  row: BulkChangeRow,
  items: readonly ItemRow[],
  advance: Advance,
): Promise<void> {
  if (row.kind === 'delete') return undoDeletion(deps, user, items, advance)
  const keyring = await deps.vault.keyring(user.workspaceId)
  await deps.db.tx(async (tx) => {
    const touched = items.filter(({ outcome }) => outcome === 'created' || outcome === 'changed')
    const leads = await lockThem(tx, keyring, user, touched)
    const now = deps.clock.now()
    const toHide = touched.flatMap((item) => {
      const lead = leads.get(item.lead_id)
      return item.outcome === 'created' && lead !== undefined && isAsLeft(item, lead) ? [lead] : []
    })
    const { changes, left } = await plan(tx, keyring, user, row, touched, leads, now)
    await hide(tx, keyring, user, toHide, now)
    const before = changes.map((change) => change.before)
    const outcomes = changes.map(({ before, lead }) => ({ action: 'updated', before, lead }) as const)
    await writeOutcomes(tx, now, keyring, user, before, outcomes)
    const undone = toHide.length + changes.filter(({ lead }) => !left.has(lead.id)).length
    await advance(tx, { undone, kept: touched.length - undone })
  })
}

const isAsLeft = ({ left_at }: ItemRow, { updatedAt }: Lead): boolean => left_at?.getTime() === updatedAt.getTime()

async function lockThem(tx: Tx, keyring: Keyring, user: LeadUser, items: readonly ItemRow[]) {
  const rows = await lockLive(
    tx,
    user.workspaceId,
    items.map(({ lead_id }) => lead_id),
  )
  return new Map(rows.map((one) => [one.id, openLead(keyring, one)]))
}

/** What changed leads become, and those of them, or others, that are not all as they were. */
async function plan(
  tx: Tx,
  keyring: Keyring,
  user: LeadUser,
  row: BulkChangeRow,
  touched: readonly ItemRow[],
  leads: ReadonlyMap<string, Lead>,
  now: Date,
) {
  const left = new Set<string>()
  const wanted = touched.flatMap((item) => {
    const lead = leads.get(item.lead_id)
    if (item.outcome !== 'changed' || item.before === null || lead === undefined) return []
    const former = openFormerValues(keyring, row.id, lead.id, item.before)
    const mine = row.kind === 'import' ? (isAsLeft(item, lead) ? former : {}) : stillSet(row, lead, former)
    if (Object.keys(mine).length < Object.keys(former).length) left.add(lead.id)
    if (Object.keys(mine).length === 0) return []
    const updatedAt = new Date(Math.max(now.getTime(), lead.updatedAt.getTime()))
    return [{ before: lead, lead: { ...lead, ...mine, updatedAt } }]
  })
  const isImpossible = await impossible(tx, user.workspaceId, wanted)
  return { changes: wanted.filter((change) => !isImpossible(change)), left }
}

/** Of the fields that a member set, those that still have what was set. */
function stillSet({ changes }: BulkChangeRow, lead: Lead, former: FormerValues): FormerValues {
  const set: Record<string, unknown> = { ...changes }
  const mine = Object.entries(former).filter(([name]) => lead[name as keyof Lead] === set[name])
  return Object.fromEntries(mine)
}

interface Change {
  before: Lead
  lead: Lead
}

/** Whether a former name is another lead's by now, or a former assignee no member any more. */
async function impossible(tx: Tx, workspaceId: string, changes: readonly Change[]): Promise<(one: Change) => boolean> {
  const assignees = new Set(
    changes.flatMap(({ before, lead }) => (lead.assignedTo === before.assignedTo ? [] : (lead.assignedTo ?? []))),
  )
  const renamed = changes.filter(
    ({ before, lead }) => before.uniqueCode !== lead.uniqueCode || before.externalRef !== lead.externalRef,
  )
  const gone = new Set(assignees.size === 0 ? [] : await findNonMembers(tx, workspaceId, [...assignees]))
  const taken =
    renamed.length === 0
      ? null
      : await takenNames(
          tx,
          workspaceId,
          renamed.map(({ lead }) => lead),
        )
  return ({ before, lead }) =>
    (lead.assignedTo !== null && lead.assignedTo !== before.assignedTo && gone.has(lead.assignedTo)) ||
    (lead.uniqueCode !== before.uniqueCode && taken?.uniqueCodes.has(lead.uniqueCode) === true) ||
    (lead.externalRef !== null &&
      lead.externalRef !== before.externalRef &&
      taken?.externalRefs.has(lead.externalRef) === true)
}

async function undoDeletion(
  deps: LeadDeps,
  user: LeadUser,
  items: readonly ItemRow[],
  advance: Advance,
): Promise<void> {
  const deletedAt = new Map(
    items.flatMap(({ lead_id, outcome, left_at }) =>
      outcome === 'deleted' && left_at !== null ? [[lead_id, left_at.getTime()]] : [],
    ),
  )
  await restoreLeads(deps, user, [...deletedAt.keys()], {
    mayRestore: (lead) => deletedAt.get(lead.id) === lead.deletedAt?.getTime(),
    alongside: async (tx, restored) => {
      const undone = restored.filter((one) => 'lead' in one).length
      await advance(tx, { undone, kept: restored.length - undone })
    },
  })
}
