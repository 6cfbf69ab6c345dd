import { Alert, Button, Group, Skeleton } from '@mantine/core'
import { IconArrowsExchange } from '@tabler/icons-react'
import { useState } from 'react'
import type { Lead } from '../../data/leads.ts'
import { type MergePreview, useMergeLeads, useMergePreview } from '../../data/merges.ts'
import type { People } from '../../data/people.ts'
import { t } from '../../text/index.ts'
import { timeAgo } from '../../ui/format/time.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { nameOf } from '../fields/lead.ts'
import { ChoiceRows } from './ChoiceRows.tsx'
import styles from './merge.module.css'
import { type Choices, excessFields, maxCustomFields, mergeRows, swapChoices, toRequestChoices } from './merge-rows.ts'
import { useMergedToast } from './use-merged-toast.ts'

interface CompareProps {
  first: string
  second: string
  people: People
  onMerged(lead: Lead): void
  close(): void
}

/** Compares two leads: the value to keep is chosen for each field, and a summary is shown before merging. */
export function CompareLeads({ first, second, people, onMerged, close }: CompareProps) {
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
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (tooMany === 0 && !merge.isPending) run()
      }}
    >
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
    </form>
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
