import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { newId } from '../../../base/id.ts'
import { pickLeadSettings } from '../../../base/lead-settings.ts'
import { oneOf } from '../../../base/route.ts'
import { streamInContext } from '../../../base/scheduling/work-context.ts'
import { fileText } from '../../../base/schema-types.ts'
import { recordAudit } from '../../../team/audit.ts'
import type { TeamActor } from '../../../team/member.ts'
import type { TeamApi } from '../../../team/team-api.ts'
import { closed } from '../../../team/team-schema.ts'
import type { Lead, LeadUser } from '../../lead/lead.ts'
import { presentDetail } from '../../lead/present.ts'
import { type LeadPage, type ListDeps, listLeadsOnce } from '../../search/list.ts'
import { type LeadFilter, resolveFilter } from '../../search/list-filter.ts'
import { listFilters, parseListRequest } from '../../search/list-request.ts'
import { csvLine } from '../file/cells.ts'
import { fieldTargets, targetOfKey } from '../file/column-mapping.ts'

/** Response schema of a file download. */
export const fileResponse = (description: string) =>
  Type.Unsafe<Readable>({
    description,
    content: {
      'text/csv': { schema: Type.String(fileText) },
      'application/x-ndjson': { schema: Type.String(fileText) },
    },
  })

/** Streams the parts as a file with this name. */
export const sendFile = (
  reply: FastifyReply,
  name: string,
  format: 'csv' | 'ndjson',
  parts: AsyncIterable<string | Buffer>,
) =>
  reply
    .type(format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson')
    .header('content-disposition', `attachment; filename="${name}.${format}"`)
    .send(Readable.from(streamInContext(parts)))

const pageRows = 500
// Spreadsheets do not open tables with more columns; further fields share the last column.
const maxCustomColumns = 100

export interface Export {
  /** Number of matching leads at the start; leads deleted during the export are not in the file. */
  total: number
  /** The file, one page of leads at a time; ends early only with an error. */
  file: AsyncGenerator<string>
}

/** Exports every matching lead, oldest first, and records start and end in the audit log. */
export async function exportLeads(
  deps: ListDeps,
  user: LeadUser & { actor: TeamActor },
  listFilter: LeadFilter,
  format: 'csv' | 'ndjson',
): Promise<Export> {
  const filter = resolveFilter(listFilter, deps.clock.now())
  const id = newId(deps.clock.now())
  const recordAuditEntry = (action: string, target: string) =>
    deps.db.tx((tx) =>
      recordAudit(tx, { scopeId: user.workspaceId, actor: user.actor, action, target }, deps.clock.now()),
    )
  const first = await readPage(deps, user, filter, null)
  await recordAuditEntry('leads.export_started', `export:${id}`)
  const write =
    format === 'csv'
      ? (leads: AsyncIterable<Lead[]>) => csvFile(leads, () => customKeys(deps, user, filter, first))
      : ndjsonFile
  const file = async function* () {
    let count = 0
    let isComplete = false
    const counted = async function* () {
      for await (const leads of readPages(deps, user, filter, first)) {
        yield leads
        count += leads.length
      }
    }
    try {
      yield* write(counted())
      isComplete = true
    } finally {
      await recordAuditEntry(isComplete ? 'leads.export_done' : 'leads.export_cut', `export:${id} leads:${count}`)
    }
  }
  return { total: first.total, file: file() }
}

function readPage(deps: ListDeps, user: LeadUser, filter: LeadFilter, cursor: string | null): Promise<LeadPage> {
  const listFilter = { filter, sort: { by: 'createdAt', order: 'asc' }, limit: pageRows, page: 1, cursor } as const
  return deps.db.inBulk(() => listLeadsOnce(deps, user, listFilter))
}

async function* readPages(deps: ListDeps, user: LeadUser, filter: LeadFilter, first: LeadPage): AsyncGenerator<Lead[]> {
  for (let next = first; ; ) {
    yield next.leads
    if (next.nextCursor === null) return
    next = await readPage(deps, user, filter, next.nextCursor)
  }
}

/** Returns the custom field keys that become columns. Values are encrypted, so this reads all leads. */
async function customKeys(deps: ListDeps, user: LeadUser, filter: LeadFilter, first: LeadPage): Promise<string[]> {
  const keys = new Set<string>()
  for await (const leads of readPages(deps, user, filter, first)) {
    for (const { key } of leads.flatMap((lead) => lead.customFields)) if (keys.size < maxCustomColumns) keys.add(key)
  }
  return [...keys].sort()
}

const bom = '\uFEFF'

async function* csvFile(pages: AsyncIterable<Lead[]>, keysOf: () => Promise<string[]>): AsyncGenerator<string> {
  // Sent before collecting the columns, which takes long in a large workspace, so that the download starts at once.
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

const ExportQuery = Type.Object(
  {
    format: Type.Optional(oneOf(['csv', 'ndjson'], { description: 'Default `csv`.' })),
    ...listFilters,
  },
  closed,
)

export function exportRoutes(api: TeamApi, deps: ListDeps): void {
  api.get('/api/team/v1/workspaces/:workspaceId/leads/export', 'owner', {
    operationId: 'exportLeads',
    summary: 'Export leads',
    description:
      'For owners. Exports every lead that matches the filters of the list, oldest first and unmasked, as a file that can be imported. CSV: UTF-8 with a byte order mark, commas, every cell quoted, custom fields as columns. An apostrophe is added before text that a spreadsheet might run as a formula (=, +, - or @ at the start of a cell or a line, or after a semicolon or tab, also after spaces and in wide forms); an import removes it. NDJSON: one lead per line, with `{"endOfExport":{"count":…}}` as the last line. `x-total-count` is the number of leads at the start. An incomplete file ends with a connection error. The audit log records who exported how many leads.',
    query: ExportQuery,
    answers: { 200: fileResponse('The leads.') },
    errors: [409, 422],
    run: async ({ member, query, reply }) => {
      const { format = 'csv', ...filters } = query
      const { workspaceId, workspace, actor } = member
      const user = { ...pickLeadSettings(workspace), workspaceId, masked: false, actor }
      const { total, file } = await exportLeads(deps, user, parseListRequest(filters).filter, format)
      return sendFile(reply.header('x-total-count', String(total)), 'leads', format, file)
    },
  })
}
