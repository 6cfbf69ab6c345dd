import { Type } from 'typebox'
import { decodeCursor, encodeCursor } from '../../base/cursor.ts'
import { isUuid } from '../../base/id.ts'
import { nullable, timestamp, titled } from '../../base/route.ts'
import { count, cursor, page } from '../../base/schema-types.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { closed } from '../../team/team-schema.ts'
import { decryptLead, type LeadRow } from '../lead/encrypted-lead.ts'
import type { Lead, LeadDeps, LeadUser } from '../lead/lead.ts'
import { presentDetail } from '../lead/present.ts'
import { leadColumns } from '../lead/queries.ts'
import { LeadDetail } from '../lead/schema.ts'
import type { LeadPage } from '../search/list.ts'
import { isTime, listQueryError, malformedCursor } from '../search/list-cursor.ts'
import { restorableMs } from '../write/restore.ts'
import { leadsPath, leadUserOfMember } from './lead-request.ts'

/** Returns deleted leads that can still be restored, most recently deleted first; ids break ties. */
async function listTrash(
  { db, keyStore, clock }: LeadDeps,
  { workspaceId }: LeadUser,
  { limit, cursor }: { limit: number; cursor: string | null },
): Promise<LeadPage> {
  const after = cursor === null ? null : parseCursor(cursor)
  const keyring = await keyStore.keyring(workspaceId)
  const deletedAfter = new Date(clock.now().getTime() - restorableMs)
  const condition = db.sql`
    l.workspace_id = ${workspaceId}
      and l.deleted_at > ${deletedAfter}
      and l.purged_at is null`
  const [rows, [totalRow]] = await Promise.all([
    db.sql<(LeadRow & { deleted_at: Date })[]>`
      select ${leadColumns(db.sql)}
      from leads l
      where ${condition}
        ${after === null ? db.sql`` : db.sql`and (l.deleted_at, l.id) < (${after.time}::timestamptz, ${after.id}::uuid)`}
      order by l.deleted_at desc, l.id desc
      limit ${limit + 1}`,
    db.sql<{ total: number }[]>`
      select count(*)::integer as total
      from leads l
      where ${condition}`,
  ])
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  return {
    leads: shown.map((row) => decryptLead(keyring, row)),
    total: totalRow?.total ?? 0,
    nextCursor: last === undefined ? null : encodeCursor([kind, last.deleted_at.getTime(), last.id]),
  }
}

/** Returns when a worker destroys the personal data of a deleted lead. */
function purgeTimeOf(deletedAt: Date): Date {
  return new Date(deletedAt.getTime() + restorableMs)
}

const kind = 'trash'

function parseCursor(text: string): { time: Date; id: string } {
  const [of, time, id, extra] = decodeCursor(text) ?? []
  if (of !== kind || !isTime(time) || typeof id !== 'string' || !isUuid(id) || extra !== undefined)
    throw malformedCursor()
  return { time: new Date(time), id }
}

const TrashedLead = titled('DeletedLead', {
  ...LeadDetail.properties,
  deletedAt: timestamp('When the lead was deleted.'),
  destroyedAt: timestamp('When its personal data is destroyed. Until then it can be restored.'),
})

const TrashQuery = Type.Object(
  {
    cursor: Type.Optional(cursor('The `nextCursor` of the previous page, unchanged.')),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Leads per page. Default 50.' })),
  },
  closed,
)

export function trashRoutes(api: TeamApi, deps: LeadDeps): void {
  api.get(`${leadsPath}/trash`, 'member', {
    operationId: 'listDeletedLeads',
    summary: 'List deleted leads',
    description:
      'Leads that can be restored, most recently deleted first. Read a lead whose uniqueCode is `trash` by its id.',
    query: TrashQuery,
    answers: {
      200: Type.Object({
        leads: Type.Array(TrashedLead, page),
        total: count('Exact number of leads that can be restored.'),
        nextCursor: nullable(cursor('Send it as `cursor` for the next page; null at the end.')),
      }),
    },
    options: { schemaErrorFormatter: listQueryError },
    run: async ({ member, query }) => {
      const { limit = 50, cursor = null } = query
      const page = await listTrash(deps, leadUserOfMember(member), { limit, cursor })
      return { ...page, leads: page.leads.flatMap(presentTrashed) }
    },
  })
}

function presentTrashed(lead: Lead) {
  const { deletedAt } = lead
  if (deletedAt === null) return []
  return [
    { ...presentDetail(lead), deletedAt: deletedAt.toISOString(), destroyedAt: purgeTimeOf(deletedAt).toISOString() },
  ]
}
