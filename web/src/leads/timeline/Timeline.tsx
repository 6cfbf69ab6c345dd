import { Button, Select, Skeleton, Textarea } from '@mantine/core'
import {
  IconArchive,
  IconArrowBackUp,
  IconArrowMerge,
  IconCheckbox,
  IconForms,
  IconMessage,
  IconMessageReply,
  IconNote,
  IconPencil,
  IconPlus,
  IconProgress,
} from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import {
  addLeadNote,
  type TimelineEntry,
  type TimelineKind,
  useLeadTimeline,
  useLiveTimeline,
} from '../../data/lead/timeline.ts'
import { type Lead, timelineKey } from '../../data/leads.ts'
import type { People } from '../../data/people.ts'
import { Form } from '../../shared/Form.tsx'
import { isCustom } from '../../shared/lead-view/conditions.ts'
import { t } from '../../text/index.ts'
import { formatAmount } from '../../ui/format/amount.ts'
import { errorSentence } from '../../ui/format/error-texts.ts'
import { customFieldName } from '../../ui/format/lead-texts.ts'
import { formatDateTime, timeAgo } from '../../ui/format/time.ts'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { MoreButton } from '../../ui/page/MoreButton.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { type FieldFormat, fieldText, keyOfColumn } from '../fields/field-columns.ts'
import { displayValue } from '../fields/lead.ts'
import { useFieldFormat } from '../fields/use-field-context.ts'
import { useUndoMergeWithToast } from '../merge/use-merged-toast.ts'
import { InboxLink } from '../message/InboxLink.tsx'
import styles from './Timeline.module.css'

const kinds = ['all', 'messages', 'notes', 'changes', 'merges', 'tasks'] as const

/** Messages, notes and changes of a lead, newest first. */
export function Timeline({ lead, people }: { lead: Lead; people: People }) {
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
    <Form className={styles.note} submit={submit}>
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
    </Form>
  )
}

const icons = {
  message: IconMessage,
  note: IconNote,
  status: IconProgress,
  fields: IconPencil,
  created: IconPlus,
  deleted: IconArchive,
  restored: IconArrowBackUp,
  merged: IconArrowMerge,
  submission: IconForms,
  task: IconCheckbox,
}

interface TimelineLineProps {
  entry: TimelineEntry
  people: People
}

/** A message, note or change. */
function TimelineLine({ entry, people }: TimelineLineProps) {
  const isOurs = entry.message?.direction === 'outbound'
  const Icon = isOurs ? IconMessageReply : icons[entry.kind]
  const who = actorText(entry, people)
  const when = timeAgo(entry.at)
  return (
    <li className={styles.entry} data-kind={entry.kind} data-agent={entry.actor?.type === 'agent' || undefined}>
      <span className={styles.icon} aria-hidden>
        <Icon size={14} />
      </span>
      <div className={styles.what}>
        <Content entry={entry} people={people} />
        <span className={styles.muted} title={formatDateTime(entry.at)}>
          {who === null ? when : t.leadPage.said({ who, when })}
        </span>
      </div>
    </li>
  )
}

function Content({ entry, people }: TimelineLineProps) {
  const { kind, changes, text, form, answers } = entry
  const { leadPage } = t
  switch (kind) {
    case 'message':
      return <MessageEntry entry={entry} />
    case 'note':
      return (
        <p className={styles.text} dir="auto">
          {text}
        </p>
      )
    case 'status':
    case 'fields':
      return <Changes changes={changes} people={people} />
    case 'merged':
      return <MergeEntry entry={entry} people={people} />
    case 'task':
      return <TaskEntry entry={entry} />
    case 'submission':
      return (
        <>
          <span>{leadPage.submitted({ form: form?.name ?? '' })}</span>
          {answers.length > 0 && (
            <dl className={styles.answers}>
              {answers.map(({ label, value }) => (
                <div key={label}>
                  <dt>{label}</dt>
                  <dd dir="auto">{typeof value === 'boolean' ? (value ? leadPage.yes : leadPage.no) : value}</dd>
                </div>
              ))}
            </dl>
          )}
        </>
      )
    default:
      return <span>{leadPage[kind]}</span>
  }
}

function TaskEntry({ entry: { text, task } }: { entry: TimelineEntry }) {
  if (task === null) return null
  const time = formatDateTime(task.doneAt ?? task.dueAt)
  return (
    <>
      <span dir="auto">{t.leadPage.task({ title: text ?? '' })}</span>
      <span className={styles.muted}>
        {task.doneAt === null ? t.leadPage.taskDue({ time }) : t.leadPage.taskDone({ time })}
      </span>
    </>
  )
}

function MessageEntry({ entry: { text, message, conversationId } }: { entry: TimelineEntry }) {
  const workspaceId = useWorkspaceId()
  if (message === null || conversationId === null) return null
  return (
    <InboxLink
      className={styles.message}
      href={`/w/${workspaceId}/inbox/${conversationId}`}
      label={t.leadPage.openConversation}
      isOutbound={message.direction === 'outbound'}
    >
      {message.file !== null && <em>{t.media.kinds[message.file as keyof typeof t.media.kinds] ?? message.file}</em>}
      {text !== null && text !== '' && <span dir="auto">{text}</span>}
      {message.status === 'failed' && <strong className={styles.failed}>{t.leadPage.unanswered}</strong>}
    </InboxLink>
  )
}

interface ChangesProps extends Pick<TimelineEntry, 'changes'> {
  people: People
}

function Changes({ changes, people }: ChangesProps) {
  const fieldFormat = useFieldFormat()
  return changes.map((change) => (
    <span key={change.field} className={styles.change} dir="auto">
      {changeText(change, people, fieldFormat)}
    </span>
  ))
}

/** A merge: what was merged and moved, with undo or who undid it. */
function MergeEntry({ entry: { id, changes, merge }, people }: TimelineLineProps) {
  if (merge === null) return null
  const { otherName, undoUntil, undone } = merge
  return (
    <>
      <span dir="auto">{otherName === null ? t.merge.fromUnknown : t.merge.fromName({ name: otherName })}</span>
      <Changes changes={changes} people={people} />
      {undone !== null && (
        <span className={styles.muted} title={formatDateTime(undone.at)}>
          {undone.actor === null
            ? t.merge.wasUndone({ when: timeAgo(undone.at) })
            : t.merge.undoneBy({ who: actorName(undone.actor, people), when: timeAgo(undone.at) })}
        </span>
      )}
      {undoUntil !== null && <UndoButton id={id} otherName={otherName} until={undoUntil} />}
    </>
  )
}

function UndoButton({ id, otherName, until }: { id: string; otherName: string | null; until: string }) {
  const undo = useUndoMergeWithToast(useWorkspaceId())
  return (
    <Button
      variant="default"
      size="compact-sm"
      my={4}
      loading={undo.isRunning}
      title={t.merge.until({ when: formatDateTime(until) })}
      onClick={() => undo.run(id, otherName ?? t.merge.other)}
    >
      {t.merge.undo}
    </Button>
  )
}

type Change = TimelineEntry['changes'][number]

/** Describes a change of a field. */
function changeText(change: Change, people: People, fieldFormat: FieldFormat): string {
  const wordsOf = (value: Change['from']) => changedValueText(change, value, people, fieldFormat)
  const [from, to] = [wordsOf(change.from), wordsOf(change.to)]
  if (change.field === 'status') return t.leads.panel.change({ from, to })
  return t.leadPage.changed({ field: fieldName(change), from, to })
}

function fieldName({ field, label }: Change): string {
  if (!isCustom(field)) return t.leads.fields[field as keyof typeof t.leads.fields] ?? field
  const key = keyOfColumn(field)
  return customFieldName({ key, label: label ?? key })
}

function changedValueText({ field }: Change, value: Change['from'], people: People, fieldFormat: FieldFormat): string {
  if (value === null || value === '') return t.leadPage.nothing
  if (typeof value === 'boolean') return value ? t.leadPage.yes : t.leadPage.no
  if (typeof value === 'number') return formatAmount(value, fieldFormat.currency)
  if (isCustom(field)) return fieldText(keyOfColumn(field), value, fieldFormat)
  return displayValue(field, value, people)
}

/** Describes who did it, and as part of what; null if unknown. */
function actorText({ actor, partOf, kind, message }: TimelineEntry, people: People): string | null {
  if (kind === 'message' && message?.direction === 'inbound') return t.leadPage.customer
  const part = partText(partOf)
  const name = actor === null ? (kind === 'message' ? t.leadPage.ourTeam : null) : actorName(actor, people)
  return name === null ? part : part === null ? name : `${name} ${part}`
}

/** Returns the name of the actor, if known. */
function actorName({ type, id }: NonNullable<TimelineEntry['actor']>, people: People): string {
  const name = type === 'form' || type === 'system' ? null : people.nameOf(id)
  return name === null || name === t.common.unknown ? t.leads.actors[type] : name
}

function partText(partOf: string | null): string | null {
  const part = partOf?.split(':')[0] ?? ''
  const { parts } = t.leadPage
  return part in parts ? parts[part as keyof typeof parts] : null
}
