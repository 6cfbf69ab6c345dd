import { newId } from '../../../base/id.ts'
import { recordAudit } from '../../../team/audit.ts'
import type { TeamActor } from '../../../team/member.ts'
import type { Lead, LeadUser } from '../../lead/lead.ts'
import { presentDetail } from '../../lead/present.ts'
import { listLeads } from '../../search/list.ts'
import { asOf, type LeadFilter } from '../../search/list-filter.ts'
import type { LeadPage, ListDeps } from '../../search/list-page.ts'
import { csvLine } from '../file/cells.ts'
import { fieldTargets, targetOfKey } from '../file/targets.ts'

const pageRows = 500
// A table of more columns opens in no spreadsheet; the fields beyond stand together in the last one.
const maxCustomColumns = 100

export interface Export {
  /** Leads that fit when it began; those deleted meanwhile are not in the file. */
  total: number
  /** The file, a page of leads at a time; it ends early only by an error. */
  file: AsyncGenerator<string>
}

/** Writes every lead that fits, oldest first, and tells the audit log when it began and how it ended. */
export async function exportLeads(
  deps: ListDeps,
  user: LeadUser & { actor: TeamActor },
  wanted: LeadFilter,
  format: 'csv' | 'ndjson',
): Promise<Export> {
  const filter = asOf(wanted, deps.clock.now())
  const id = newId(deps.clock.now())
  const note = (action: string, target: string) =>
    deps.db.tx((tx) =>
      recordAudit(tx, { scopeId: user.workspaceId, actor: user.actor, action, target }, deps.clock.now()),
    )
  const first = await page(deps, user, filter, null)
  await note('leads.export_started', `export:${id}`)
  const write =
    format === 'csv'
      ? (leads: AsyncIterable<Lead[]>) => csvFile(leads, () => customKeys(deps, user, filter, first))
      : ndjsonFile
  const file = async function* () {
    let count = 0
    let ended = false
    const counted = async function* () {
      for await (const leads of pages(deps, user, filter, first)) {
        yield leads
        count += leads.length
      }
    }
    try {
      yield* write(counted())
      ended = true
    } finally {
      await note(ended ? 'leads.export_done' : 'leads.export_cut', `export:${id} leads:${count}`)
    }
  }
  return { total: first.total, file: file() }
}

function page(deps: ListDeps, user: LeadUser, filter: LeadFilter, cursor: string | null): Promise<LeadPage> {
  const wanted = { filter, sort: { by: 'createdAt', order: 'asc' }, limit: pageRows, page: 1, cursor } as const
  return deps.db.inBulk(() => listLeads(deps, user, wanted))
}

async function* pages(deps: ListDeps, user: LeadUser, filter: LeadFilter, first: LeadPage): AsyncGenerator<Lead[]> {
  for (let next = first; ; ) {
    yield next.leads
    if (next.nextCursor === null) return
    next = await page(deps, user, filter, next.nextCursor)
  }
}

/** The custom fields that become columns. They are sealed in their leads, so only a walk through these tells them. */
async function customKeys(deps: ListDeps, user: LeadUser, filter: LeadFilter, first: LeadPage): Promise<string[]> {
  const keys = new Set<string>()
  for await (const leads of pages(deps, user, filter, first)) {
    for (const { key } of leads.flatMap((lead) => lead.customFields)) if (keys.size < maxCustomColumns) keys.add(key)
  }
  return [...keys].sort()
}

const bom = '\uFEFF'

async function* csvFile(pages: AsyncIterable<Lead[]>, keysOf: () => Promise<string[]>): AsyncGenerator<string> {
  // Sent before the walk for the columns, which takes a while in a large workspace: whoever waits sees that it began.
  yield bom
  const keys = await keysOf()
  const header = ['id', ...fieldTargets, 'createdAt', 'updatedAt', ...keys.map(targetOfKey), 'moreCustomFields']
  yield csvLine(header, ',')
  for await (const leads of pages) yield leads.map((lead) => csvLine(cellsOf(lead, keys), ',')).join('')
}

function cellsOf(lead: Lead, keys: readonly string[]): string[] {
  const values = new Map(lead.customFields.map(({ key, value }) => [key, String(value)]))
  const more = lead.customFields.filter(({ key }) => !keys.includes(key)).map(({ key, value }) => [key, value])
  return [
    lead.id,
    ...fieldTargets.map((field) => String(lead[field] ?? '')),
    lead.createdAt.toISOString(),
    lead.updatedAt.toISOString(),
    ...keys.map((key) => values.get(key) ?? ''),
    more.length === 0 ? '' : JSON.stringify(Object.fromEntries(more)),
  ]
}

async function* ndjsonFile(pages: AsyncIterable<Lead[]>): AsyncGenerator<string> {
  let count = 0
  for await (const leads of pages) {
    yield leads.map((lead) => `${JSON.stringify(presentDetail(lead))}\n`).join('')
    count += leads.length
  }
  yield `${JSON.stringify({ endOfExport: { count } })}\n`
}
