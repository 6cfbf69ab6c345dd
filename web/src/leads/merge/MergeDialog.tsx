import { Alert, Button, Group, Skeleton, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconArrowsExchange } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import type { Lead } from '../../data/leads.ts'
import { type MergePreview, useLeadSearch, useMergeLeads, useMergePreview } from '../../data/merges.ts'
import type { People } from '../../data/people.ts'
import { Form } from '../../shared/Form.tsx'
import { t } from '../../text/index.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { formatAmount } from '../../ui/format/amount.ts'
import { timeAgo } from '../../ui/format/time.ts'
import { Dialog } from '../../ui/overlay/Dialog.tsx'
import { showError } from '../../ui/overlay/toasts.tsx'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { useIsPhone } from '../../ui/use-is-phone.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { type FieldFormat, fieldText } from '../fields/field-columns.ts'
import { displayValue, formatOptionalPhone, nameOf } from '../fields/lead.ts'
import { useFieldFormat } from '../fields/use-field-context.ts'
import styles from './merge.module.css'
import {
  type Choice,
  type Choices,
  excessFields,
  keyOfCustom,
  type MergeRow,
  maxCustomFields,
  mergeRows,
  swapChoices,
  toRequestChoices,
} from './merge-rows.ts'
import { useMergedToast } from './use-merged-toast.ts'

interface MergeDialogProps {
  lead: { id: string; name: string }
  /** Lead to merge with; null to choose one. */
  otherId: string | null
  people: People
  onMerged(lead: Lead): void
  close(): void
}

/** Merges two leads: choose the other lead, compare fields, review the summary. */
export default function MergeDialog({ lead, otherId, people, onMerged, close }: MergeDialogProps) {
  const [picked, setPicked] = useState(otherId)
  const isPhone = useIsPhone()
  // The lead created first is kept by default: ids are in order of creation.
  const pair = picked === null ? null : [lead.id, picked].sort()
  return (
    <Dialog close={close} size={picked === null ? 'md' : 960} fullScreen={isPhone} title={t.merge.title}>
      {pair === null ? (
        <PickLead lead={lead} pick={setPicked} />
      ) : (
        <CompareLeads first={pair[0] ?? ''} second={pair[1] ?? ''} {...{ people, onMerged, close }} />
      )}
    </Dialog>
  )
}

const shown = 8
const debounceMs = 150

/** Chooses the lead to merge with. */
function PickLead({ lead, pick }: { lead: { id: string; name: string }; pick(id: string): void }) {
  const workspaceId = useWorkspaceId()
  const [typed, setTyped] = useState('')
  const [term] = useDebouncedValue(typed.trim(), debounceMs)
  const { data, error, refetch } = useLeadSearch(workspaceId, term, shown + 1)
  const found = term === '' ? [] : (data ?? []).filter(({ id }) => id !== lead.id).slice(0, shown)
  return (
    <Form submit={() => found[0] !== undefined && pick(found[0].id)}>
      <TextInput
        label={t.merge.pick({ name: lead.name })}
        placeholder={t.merge.search}
        value={typed}
        maxLength={100}
        onChange={(event) => setTyped(event.currentTarget.value)}
        data-autofocus
        autoComplete="off"
      />
      {error !== null && <ErrorState error={error} retry={() => void refetch()} />}
      {term !== '' && data !== undefined && found.length === 0 && <p className={styles.muted}>{t.merge.nobody}</p>}
      <ul className={styles.found}>
        {found.map((one) => (
          <li key={one.id}>
            <button type="button" onClick={() => pick(one.id)}>
              <Avatar name={nameOf(one)} size={28} />
              <span>
                <strong>{nameOf(one)}</strong>
                <span className={styles.muted}>{hintOf(one)}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </Form>
  )
}

const hintOf = ({ phone, email }: Lead): string => [formatOptionalPhone(phone), email].filter(Boolean).join(' · ')

interface CompareProps extends Pick<MergeDialogProps, 'people' | 'onMerged' | 'close'> {
  first: string
  second: string
}

/** Compares two leads: the value to keep is chosen for each field, and a summary is shown before merging. */
function CompareLeads({ first, second, people, onMerged, close }: CompareProps) {
  const workspaceId = useWorkspaceId()
  const [isSwapped, setSwapped] = useState(false)
  const [choices, setChoices] = useState<Choices>({})
  const [keptId, otherId] = isSwapped ? [second, first] : [first, second]
  const { data, error, refetch } = useMergePreview(workspaceId, keptId, otherId)
  const merge = useMergeLeads(workspaceId)
  const showMergedToast = useMergedToast(workspaceId)
  if (error !== null && data === undefined) return <ErrorState error={error} retry={() => void refetch()} />
  if (data === undefined) return <Skeleton height={320} />
  const rows = mergeRows(data.kept, data.other)
  const all = [...rows.conflicts, ...rows.filled, ...rows.same]
  const tooMany = excessFields(all, choices)
  const run = () =>
    merge.mutate(
      { keptId, otherId, ...toRequestChoices(all, choices) },
      {
        onError: showError,
        onSuccess: (done) => {
          showMergedToast(done, nameOf(data.other))
          onMerged(done.lead)
        },
      },
    )
  const choose = (id: string, choice: Choices[string]) => setChoices((before) => ({ ...before, [id]: choice }))
  const swap = () => {
    setSwapped(!isSwapped)
    setChoices(swapChoices(choices))
  }
  return (
    <Form submit={() => tooMany === 0 && !merge.isPending && run()}>
      <div className={styles.heads}>
        <Head lead={data.kept} isKept />
        <Head lead={data.other} swap={swap} />
      </div>
      <MergeSummary preview={data} choices={choices} />
      {tooMany > 0 && (
        <Alert color="red" role="alert" mt="sm">
          {t.merge.tooMany({ n: tooMany, most: maxCustomFields, together: maxCustomFields + tooMany })}
        </Alert>
      )}
      <ChoiceRows rows={rows} choices={choices} choose={choose} leads={data} people={people} />
      <Group justify="flex-end" mt="md" gap="xs" className={styles.buttons}>
        <PanelButtons
          close={close}
          action={merge.isPending ? t.merge.running : t.merge.run}
          isBusy={merge.isPending}
          disabled={tooMany > 0}
        />
      </Group>
    </Form>
  )
}

function Head({ lead, isKept = false, swap }: { lead: Lead; isKept?: boolean; swap?: () => void }) {
  return (
    <section className={styles.head} data-kept={isKept || undefined}>
      <span className={styles.role}>{isKept ? t.merge.keep : t.merge.goes}</span>
      <strong>{nameOf(lead)}</strong>
      <span className={styles.muted}>{t.merge.since({ when: timeAgo(lead.createdAt) })}</span>
      {swap !== undefined && (
        <Button
          variant="subtle"
          size="compact-sm"
          leftSection={<IconArrowsExchange size={14} aria-hidden="true" />}
          onClick={swap}
        >
          {t.merge.swap}
        </Button>
      )}
    </section>
  )
}

/** Summary of the merge. */
function MergeSummary({ preview, choices }: { preview: MergePreview; choices: Choices }) {
  const { kept, other, conversations, submissions, statusChanges } = preview
  const moving = [
    ...(conversations > 0 ? [t.merge.conversations({ n: conversations })] : []),
    ...(submissions > 0 ? [t.merge.submissions({ n: submissions })] : []),
    ...(statusChanges > 0 ? [t.merge.statusChanges({ n: statusChanges })] : []),
  ]
  const choice = choices.externalRef ?? (kept.externalRef === null ? 'other' : 'kept')
  const lost = choice === 'other' ? kept.externalRef : other.externalRef
  const moves =
    moving.length === 0
      ? t.merge.movesNothing({ other: nameOf(other) })
      : t.merge.moves({ what: moving.join(', '), other: nameOf(other), kept: nameOf(kept) })
  return (
    <p className={styles.outcome} role="status">
      {[
        moves,
        t.merge.contacts,
        ...(lost === null ? [] : [t.merge.lostRef({ ref: lost })]),
        t.merge.deleted({ other: nameOf(other) }),
      ].join(' ')}
    </p>
  )
}

interface ChoiceRowsProps {
  rows: ReturnType<typeof mergeRows>
  choices: Choices
  choose(id: string, choice: Choice): void
  leads: MergePreview
  people: People
}

/** Fields of both leads, conflicts first; equal ones are collapsed. */
function ChoiceRows({ rows, choices, choose, leads, people }: ChoiceRowsProps) {
  const fieldFormat = useFieldFormat()
  const list = (some: readonly MergeRow[]) =>
    some.map((row) => (
      <Row
        key={row.id}
        choice={choices[row.id] ?? row.defaultChoice}
        {...{ row, choose, leads, people, fieldFormat }}
      />
    ))
  return (
    <>
      <h3 className={styles.heading}>{t.merge.conflicts}</h3>
      {rows.conflicts.length === 0 && <p className={styles.muted}>{t.merge.noConflicts}</p>}
      {list(rows.conflicts)}
      {rows.filled.length > 0 && <h3 className={styles.heading}>{t.merge.filled}</h3>}
      {list(rows.filled)}
      {rows.same.length > 0 && (
        <details className={styles.same}>
          <summary>{t.merge.same({ n: rows.same.length })}</summary>
          <dl>
            {rows.same.map((row) => (
              <div key={row.id}>
                <dt>{labelOf(row)}</dt>
                <dd>{valueText(row, row.kept, people, fieldFormat)}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </>
  )
}

interface RowProps extends Pick<ChoiceRowsProps, 'choose' | 'leads' | 'people'> {
  row: MergeRow
  choice: Choice
  fieldFormat: FieldFormat
}

function Row({ row, choice, choose, leads, people, fieldFormat }: RowProps) {
  const words: Record<Choice, ReactNode> = {
    kept: valueText(row, row.kept, people, fieldFormat),
    other: valueText(row, row.other, people, fieldFormat),
    both: t.merge.both,
    none: t.merge.none,
  }
  const whose: Partial<Record<Choice, string>> = { kept: nameOf(leads.kept), other: nameOf(leads.other) }
  return (
    <fieldset className={styles.row}>
      <legend>{labelOf(row)}</legend>
      {row.options.map((option) => (
        <label
          key={option}
          className={styles.option}
          data-on={option === choice || undefined}
          data-also={option === 'both' || option === 'none' || undefined}
        >
          <input
            type="radio"
            name={`merge-${row.id}`}
            checked={option === choice}
            onChange={() => choose(row.id, option)}
          />
          <span className={styles.value} dir="auto">
            {words[option]}
          </span>
          {whose[option] !== undefined && <span className={styles.ownerHint}>{whose[option]}</span>}
        </label>
      ))}
    </fieldset>
  )
}

const labelOf = ({ field, label }: MergeRow): string => (field === null ? (label ?? '') : t.leads.fields[field])

function valueText(
  { id, field }: MergeRow,
  value: MergeRow['kept'],
  people: People,
  fieldFormat: FieldFormat,
): ReactNode {
  if (value === null || value === '') return <em className={styles.muted}>{t.merge.empty}</em>
  if (typeof value === 'boolean') return value ? t.common.yes : t.common.no
  if (typeof value === 'number') return formatAmount(value, fieldFormat.currency)
  if (field === null) return fieldText(keyOfCustom(id), value, fieldFormat)
  return displayValue(field, value, people)
}
