import { Button } from '@mantine/core'
import {
  IconCircleCheck,
  IconClockPause,
  IconFlag,
  IconMail,
  IconMailOpened,
  IconRotate,
  IconTag,
  IconUserPlus,
  IconX,
} from '@tabler/icons-react'
import { useMemo, useRef, useState } from 'react'
import { type BulkResult, changeConversations, undoConversations } from '../../data/inbox/bulk.ts'
import { useConversationPages, useInbox } from '../../data/inbox/queries.ts'
import type { BulkChanges, Conversation, ConversationFilter, Priority } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { formatNumber } from '../../ui/format/time.ts'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { showError, showToast, showUndoToast } from '../../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { IconButton, IconDropdown, useDropdowns } from '../parts/IconButton.tsx'
import {
  clearSelection,
  currentSelection,
  isResolvedOrClosed,
  labelState,
  maxSelected,
  selectAll,
  useSelection,
} from '../parts/selection.ts'
import { useTriageKeys } from '../parts/triage-keys.ts'
import styles from './BulkBar.module.css'

const AssignPicker = prefetchedComponent(() => import('../pick/AssignPicker.tsx'))
const LabelPicker = prefetchedComponent(() => import('../../shared/LabelPicker.tsx'))
const PriorityPicker = prefetchedComponent(() => import('../pick/PriorityPicker.tsx'))
const SnoozePicker = prefetchedComponent(() => import('../pick/SnoozePicker.tsx'))

/** Progress of a running change. */
interface Progress {
  done: number
  of: number
}

const menusWithKeys = ['snooze', 'label', 'assign'] as const
type Menu = (typeof menusWithKeys)[number] | 'priority'

/** Actions on the selected conversations, with the same shortcuts as for one. */
export default function BulkBar({ filter }: { filter: ConversationFilter }) {
  const { rows } = useConversationPages(useWorkspaceId(), filter)
  const { ids } = useSelection()
  const { progress, run } = useBulk()
  const { open, controlOf } = useDropdowns<Menu>()
  const chosen = useMemo(() => rows.filter(({ id }) => ids.includes(id)), [rows, ids])
  const bulkActions = bulkActionsFor(chosen, run)
  const { actions } = t.inbox
  const isEmpty = ids.length === 0
  const menu = (name: Menu) => ({ stroke: 1.6, disabled: isEmpty, control: controlOf(name) })
  const done = bulkActions.isDone ? actions.reopen : actions.resolve
  const unread = bulkActions.isUnread ? actions.read : actions.unread
  useTriageKeys(t.triage.bulk.group, { ...bulkActions, done, unread, menus: menusWithKeys, open, isOn: true })
  return (
    <div className={styles.bar} role="toolbar" aria-label={t.triage.bulk.group}>
      <Count chosen={ids.length} shown={rows.length} all={() => selectAll(rows.map(({ id }) => id))} />
      <div className={styles.actions}>
        <Button
          variant="default"
          size="xs"
          disabled={isEmpty}
          leftSection={bulkActions.isDone ? <IconRotate size={16} /> : <IconCircleCheck size={16} />}
          onClick={bulkActions.toggleDone}
        >
          {done}
        </Button>
        <IconDropdown
          icon={IconUserPlus}
          label={`${actions.assign} (A)`}
          {...menu('assign')}
          content={(dropdown) => (
            <AssignPicker
              dropdown={dropdown}
              assignedTo={commonOf(chosen, ({ assignedTo }) => assignedTo)}
              assign={bulkActions.assign}
              team={{ id: commonOf(chosen, ({ teamId }) => teamId), move: bulkActions.move }}
            />
          )}
        />
        <IconDropdown
          icon={IconTag}
          label={`${actions.label} (L)`}
          {...menu('label')}
          content={(dropdown) => (
            <LabelPicker dropdown={dropdown} hasLabel={(id) => labelState(chosen, id)} set={bulkActions.setLabel} />
          )}
        />
        <IconDropdown
          icon={IconFlag}
          label={t.inbox.priority}
          {...menu('priority')}
          content={(dropdown) => (
            <PriorityPicker
              dropdown={dropdown}
              priority={commonOf(chosen, ({ priority }) => priority)}
              choose={bulkActions.setPriority}
            />
          )}
        />
        <IconDropdown
          icon={IconClockPause}
          label={`${actions.snooze} (Z)`}
          {...menu('snooze')}
          content={(dropdown) => <SnoozePicker dropdown={dropdown} snooze={bulkActions.snooze} />}
        />
        <IconButton
          icon={bulkActions.isUnread ? IconMailOpened : IconMail}
          stroke={1.6}
          label={unread}
          tip={`${unread} (U)`}
          disabled={isEmpty}
          onClick={bulkActions.toggleUnread}
        />
      </div>
      {progress !== null && <ProgressStatus progress={progress} />}
    </div>
  )
}

function Count({ chosen, shown, all }: { chosen: number; shown: number; all(): void }) {
  const { bulk } = t.triage
  return (
    <div className={styles.count}>
      <IconButton
        icon={IconX}
        iconSize={16}
        size="sm"
        label={t.inbox.bulk.clear}
        title={`${t.inbox.bulk.clear} (Esc)`}
        onClick={clearSelection}
      />
      <span role="status">
        {bulk.chosen({ n: chosen })}
        {chosen === maxSelected && ` · ${bulk.most({ shown: formatNumber(maxSelected) })}`}
      </span>
      {chosen < Math.min(shown, maxSelected) && (
        <button type="button" className={styles.all} onClick={all}>
          {bulk.all({ shown: formatNumber(Math.min(shown, maxSelected)) })}
        </button>
      )}
    </div>
  )
}

function ProgressStatus({ progress: { done, of } }: { progress: Progress }) {
  const words = t.triage.bulk.working({ done: formatNumber(done), of: formatNumber(of) })
  return (
    <div className={styles.working}>
      <span role="status">{words}</span>
      <progress value={done} max={of} aria-label={words} />
    </div>
  )
}

function bulkActionsFor(chosen: readonly Conversation[], run: ReturnType<typeof useBulk>['run']) {
  const isDone = chosen.length > 0 && chosen.every(({ status }) => isResolvedOrClosed(status))
  const isUnread = chosen.some(({ unreadCount }) => unreadCount > 0)
  return {
    isDone,
    isUnread,
    toggleDone: () => run({ status: isDone ? 'open' : 'resolved' }),
    toggleUnread: () => run({ read: isUnread }),
    assign: (member: { id: string } | null) => run({ assignedTo: member?.id ?? null }),
    move: (team: { id: string } | null) => run({ teamId: team?.id ?? null }),
    setPriority: (priority: Priority | null) => run({ priority }),
    snooze: (until: Date | null) => run({ status: 'snoozed', snoozedUntil: until?.toISOString() ?? null }),
    // Often several labels are set in turn.
    setLabel: (id: string, isOn: boolean) => run(isOn ? { addLabelIds: [id] } : { removeLabelIds: [id] }, true),
  }
}

/** Returns what all have in common; undefined if they differ. */
function commonOf<V>(chosen: readonly Conversation[], read: (one: Conversation) => V): V | undefined {
  const all = new Set(chosen.map(read))
  return all.size === 1 ? [...all][0] : undefined
}

const undoMs = 20_000

/** Changes the selected conversations one change at a time, with progress and undo. */
function useBulk(): { progress: Progress | null; run(changes: BulkChanges, keepsSelection?: boolean): void } {
  const inbox = useInbox()
  const [progress, setProgress] = useState<Progress | null>(null)
  const queue = useRef(Promise.resolve())
  const work = async (ids: readonly string[], changes: BulkChanges, keepsSelection: boolean) => {
    const done = await changeConversations(inbox, ids, changes, (done) => setProgress({ done, of: ids.length }))
    setProgress(null)
    reportResult(done, ids.length, () => void undo(done).catch(showError))
    // After an error, the selection is kept to continue.
    if (done.error === null && !keepsSelection) clearSelection()
  }
  const undo = async (done: BulkResult) => {
    const left = await undoConversations(inbox, done)
    const back = done.former.length - left
    const texts = t.triage.bulk
    showToast([texts.undone({ n: back }), ...(left > 0 ? [texts.left({ n: left })] : [])].join('. '))
  }
  const run = (changes: BulkChanges, keepsSelection = false) => {
    const { ids } = currentSelection()
    if (ids.length > 0) queue.current = queue.current.then(() => work(ids, changes, keepsSelection))
  }
  return { progress, run }
}

function reportResult({ former, done, error }: BulkResult, selectedCount: number, undo: () => void): void {
  const texts = t.triage.bulk
  const changed = former.length
  const words =
    error === null
      ? texts.changed({ n: changed })
      : texts.interrupted({ shown: formatNumber(done), of: formatNumber(selectedCount) })
  if (error !== null && done === 0) showError(error)
  else if (changed === 0) showToast(error === null ? texts.none : words)
  else showUndoToast(words, undo, undoMs)
}
