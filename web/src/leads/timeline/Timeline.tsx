import { Button, Select, Skeleton, Textarea } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { addLeadNote, type TimelineKind, useLeadTimeline, useLiveTimeline } from '../../data/lead/timeline.ts'
import { type Lead, timelineKey } from '../../data/leads.ts'
import type { People } from '../../data/people.ts'
import { MoreButton } from '../../shared/MoreButton.tsx'
import { t } from '../../text/index.ts'
import { errorSentence } from '../../ui/format/error-texts.ts'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
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
      <MoreButton query={query} size="compact-sm">
        {leadPage.older}
      </MoreButton>
    </section>
  )
}

const maxNoteLength = 10_000

/** Adds an internal note to the lead. On failure, the text stays. */
function NoteField({ leadId }: { leadId: string }) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const [text, setText] = useState('')
  // A failed attempt may have been applied: the same note uses the same idempotency key.
  const key = useRef<{ text: string; value: string }>(undefined)
  const add = useMutation({
    mutationFn: (noteText: string) => {
      if (key.current?.text !== noteText) key.current = { text: noteText, value: crypto.randomUUID() }
      return addLeadNote(workspaceId, leadId, noteText, key.current.value)
    },
    onSuccess: () => {
      key.current = undefined
      setText('')
      return queries.invalidateQueries({ queryKey: timelineKey(workspaceId, leadId) })
    },
  })
  const submit = () => {
    if (text.trim() !== '' && !add.isPending) add.mutate(text.trim())
  }
  return (
    <form
      noValidate
      className={styles.note}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <Textarea
        size="xs"
        aria-label={t.leadPage.note}
        placeholder={t.leadPage.notePlaceholder}
        autosize
        minRows={1}
        maxRows={10}
        maxLength={maxNoteLength}
        value={text}
        error={add.error === null ? null : errorSentence(add.error)}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) submit()
        }}
      />
      {text.trim() !== '' && (
        <Button type="submit" size="compact-sm" loading={add.isPending}>
          {t.leadPage.addNote}
        </Button>
      )}
    </form>
  )
}
