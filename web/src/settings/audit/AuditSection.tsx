import { Button } from '@mantine/core'
import { useMemo, useState } from 'react'
import { useCannedReplies } from '../../data/canned-replies.ts'
import { useConnections } from '../../data/connections.ts'
import { useForms } from '../../data/forms.ts'
import { useLabels } from '../../data/labels.ts'
import { useLeadFields } from '../../data/lead-fields.ts'
import { usePeopleLists } from '../../data/people.ts'
import { useSavedFilters } from '../../data/saved-filters.ts'
import { type AuditEntry, type AuditFilter, useAudit } from '../../data/team/audit.ts'
import { useInvitations } from '../../data/team/invitations.ts'
import { useEndpoints } from '../../data/webhooks.ts'
import { t } from '../../text/index.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { EmptyState } from '../../ui/page/EmptyState.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { type Column, Table } from '../../ui/page/Table.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './Audit.module.css'
import { AuditFilters } from './AuditFilters.tsx'
import { actionText, actorText, type Named, type Names, namesOf, subjectText } from './audit-texts.ts'

/** Audit log with filters. */
export function AuditSection() {
  const workspaceId = useWorkspaceId()
  const [filter, setFilter] = useState<AuditFilter>({})
  const query = useAudit(workspaceId, filter)
  const names = useNames(workspaceId)
  const isNarrowed = Object.keys(filter).length > 0
  return (
    <>
      <AuditFilters filter={filter} change={setFilter} names={names} />
      <QueryBoundary query={query}>
        {({ pages }) => {
          const entries = pages.flatMap((page) => page.entries)
          // A page may be empty without being the last one.
          if (entries.length === 0 && !query.hasNextPage) {
            return <EmptyState title={isNarrowed ? t.settings.audit.noMatches : t.settings.audit.empty} />
          }
          return (
            <>
              <Table
                label={t.settings.sections.audit.title}
                rows={entries}
                keyOf={({ id }) => id}
                columns={columns(names)}
              />
              {query.hasNextPage && (
                <div className={styles.more}>
                  <Button
                    variant="default"
                    loading={query.isFetchingNextPage}
                    onClick={() => void query.fetchNextPage()}
                  >
                    {t.settings.audit.older}
                  </Button>
                </div>
              )}
            </>
          )
        }}
      </QueryBoundary>
    </>
  )
}

function useNames(workspaceId: string): Names {
  const { data: people } = usePeopleLists(workspaceId)
  const { data: labels } = useLabels(workspaceId)
  const { data: replies } = useCannedReplies(workspaceId)
  const { data: filters } = useSavedFilters(workspaceId)
  const { data: invitations } = useInvitations(workspaceId)
  const { data: connections } = useConnections(workspaceId)
  const { data: forms } = useForms(workspaceId)
  const { data: endpoints } = useEndpoints(workspaceId)
  const fields = useLeadFields(workspaceId)
  return useMemo(() => {
    const nobody = { members: [], keys: [], tokens: [] }
    const lists: (readonly Named[] | undefined)[] = [labels, filters, connections, forms]
    const named = lists.flatMap((list) => [...(list ?? [])])
    const shortcuts = (replies ?? []).map(({ id, shortcut }) => ({ id, name: `/${shortcut}` }))
    const invited = (invitations ?? []).map(({ id, email }) => ({ id, name: email }))
    const hooks = (endpoints ?? []).map(({ id, description, url }) => ({ id, name: description || url }))
    const ofLeads = fields.map(({ id, label }) => ({ id, name: label }))
    return namesOf(people ?? nobody, [...named, ...shortcuts, ...invited, ...hooks, ...ofLeads])
  }, [people, labels, replies, filters, invitations, connections, forms, endpoints, fields])
}

function columns(names: Names): Column<AuditEntry>[] {
  const texts = t.settings.audit
  return [
    { key: 'who', title: texts.who, cell: (entry) => <strong>{actorText(entry, names)}</strong> },
    { key: 'what', title: texts.what, cell: actionText },
    { key: 'about', title: texts.about, cell: (entry) => subjectText(entry, names), optional: true, long: true },
    { key: 'when', title: texts.when, cell: ({ at }) => <span className={styles.when}>{formatDateTime(at)}</span> },
  ]
}
