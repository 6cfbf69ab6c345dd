import { Button, Select, Skeleton } from '@mantine/core'
import { useState } from 'react'
import { type TimelineKind, useLeadTimeline, useLiveTimeline } from '../../data/lead/timeline.ts'
import type { Lead } from '../../data/leads.ts'
import type { People } from '../../data/people.ts'
import { t } from '../../text/index.ts'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { NoteField } from './NoteField.tsx'
import styles from './Timeline.module.css'
import { TimelineLine } from './TimelineLine.tsx'

const kinds = ['all', 'messages', 'notes', 'changes', 'merges', 'tasks'] as const

interface TimelineProps {
  lead: Lead
  people: People
}

/** Messages, notes and changes of a lead, newest first. */
export function Timeline({ lead, people }: TimelineProps) {
  const workspaceId = useWorkspaceId()
  const [kind, setKind] = useState<'all' | TimelineKind>('all')
  const query = useLeadTimeline(workspaceId, lead.id, kind === 'all' ? null : kind)
  useLiveTimeline(workspaceId, lead.id, lead.phone)
  const { leadPage } = t
  const entries = query.data?.pages.flatMap((page) => page.entries)
  return (
    <section className={styles.timeline} aria-label={leadPage.timeline}>
      <div className={styles.head}>
        <h3 className={styles.heading}>{leadPage.timeline}</h3>
        <Select
          size="xs"
          w={130}
          aria-label={leadPage.show}
          value={kind}
          allowDeselect={false}
          onChange={(chosen) => setKind((chosen ?? 'all') as typeof kind)}
          data={kinds.map((value) => ({ value, label: leadPage.shown[value] }))}
        />
      </div>
      <NoteField leadId={lead.id} />
      {query.isError && entries === undefined && <ErrorState error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Skeleton height={120} />}
      {entries?.length === 0 && <p className={styles.muted}>{leadPage.empty}</p>}
      <ol className={styles.entries}>
        {entries?.map((entry) => (
          <TimelineLine key={entry.id} entry={entry} people={people} />
        ))}
      </ol>
      {query.hasNextPage && (
        <Button
          variant="default"
          size="compact-sm"
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {leadPage.older}
        </Button>
      )}
    </section>
  )
}
