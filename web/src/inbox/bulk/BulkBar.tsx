import { ActionIcon, Button } from '@mantine/core'
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
  type TablerIcon,
} from '@tabler/icons-react'
import { type ReactNode, useMemo, useRef, useState } from 'react'
import { useConversationPages } from '../../data/inbox/queries.ts'
import type { Conversation, ConversationFilter, Priority } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { formatNumber } from '../../ui/format/time.ts'
import { type Dropdown, DropdownContent, dropdownButtonProps, useDropdown } from '../../ui/overlay/dropdown.tsx'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { Tip } from '../../ui/overlay/Tip.tsx'
import { type Shortcut, useShortcuts } from '../../ui/shortcuts.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { clearSelection, maxSelected, selectAll, useSelection } from '../parts/selection.ts'
import { isResolvedOrClosed, labelState } from '../parts/selection-rules.ts'
import styles from './BulkBar.module.css'
import { type Progress, useBulk } from './use-bulk.ts'

const AssignPicker = prefetchedComponent(() => import('../pick/AssignPicker.tsx'))
const LabelPicker = prefetchedComponent(() => import('../../shared/LabelPicker.tsx'))
const PriorityPicker = prefetchedComponent(() => import('../pick/PriorityPicker.tsx'))
const SnoozePicker = prefetchedComponent(() => import('../pick/SnoozePicker.tsx'))

type OpenMenu = 'snooze' | 'label' | 'assign' | 'priority' | null

/** Actions on the selected conversations, with the same shortcuts as for one. */
export default function BulkBar({ filter }: { filter: ConversationFilter }) {
  const { rows } = useConversationPages(useWorkspaceId(), filter)
  const { ids } = useSelection()
  const { progress, run } = useBulk()
  const [menu, setMenu] = useState<OpenMenu>(null)
  const chosen = useMemo(() => rows.filter(({ id }) => ids.includes(id)), [rows, ids])
  const bulkActions = bulkActionsFor(chosen, run)
  useBulkKeys(bulkActions, setMenu)
  const menuProps = (name: OpenMenu) => ({
    isOpen: menu === name,
    setOpen: (isOpen: boolean) => setMenu((now) => (isOpen ? name : now === name ? null : now)),
  })
  const { actions } = t.inbox
  const isIdle = ids.length > 0
  return (
    <div className={styles.bar} role="toolbar" aria-label={t.triage.bulk.group}>
      <Count chosen={ids.length} shown={rows.length} all={() => selectAll(rows.map(({ id }) => id))} />
      <div className={styles.actions}>
        <Button
          variant="default"
          size="xs"
          disabled={!isIdle}
          leftSection={bulkActions.isDone ? <IconRotate size={16} /> : <IconCircleCheck size={16} />}
          onClick={bulkActions.toggleDone}
        >
          {bulkActions.isDone ? actions.reopen : actions.resolve}
        </Button>
        <BulkMenu icon={IconUserPlus} label={`${actions.assign} (A)`} isIdle={isIdle} {...menuProps('assign')}>
          {(dropdown) => (
            <AssignPicker
              dropdown={dropdown}
              assignedTo={commonOf(chosen, ({ assignedTo }) => assignedTo)}
              assign={bulkActions.assign}
              team={{ id: commonOf(chosen, ({ teamId }) => teamId), move: bulkActions.move }}
            />
          )}
        </BulkMenu>
        <BulkMenu icon={IconTag} label={`${actions.label} (L)`} isIdle={isIdle} {...menuProps('label')}>
          {(dropdown) => (
            <LabelPicker dropdown={dropdown} hasLabel={(id) => labelState(chosen, id)} set={bulkActions.setLabel} />
          )}
        </BulkMenu>
        <BulkMenu icon={IconFlag} label={t.inbox.priority} isIdle={isIdle} {...menuProps('priority')}>
          {(dropdown) => (
            <PriorityPicker
              dropdown={dropdown}
              priority={commonOf(chosen, ({ priority }) => priority)}
              choose={bulkActions.setPriority}
            />
          )}
        </BulkMenu>
        <BulkMenu icon={IconClockPause} label={`${actions.snooze} (Z)`} isIdle={isIdle} {...menuProps('snooze')}>
          {(dropdown) => <SnoozePicker dropdown={dropdown} snooze={bulkActions.snooze} />}
        </BulkMenu>
        <Tip label={`${bulkActions.isUnread ? actions.read : actions.unread} (U)`}>
          <ActionIcon
            variant="subtle"
            color="gray"
            disabled={!isIdle}
            aria-label={bulkActions.isUnread ? actions.read : actions.unread}
            onClick={bulkActions.toggleUnread}
          >
            {bulkActions.isUnread ? <IconMailOpened size={18} stroke={1.6} /> : <IconMail size={18} stroke={1.6} />}
          </ActionIcon>
        </Tip>
      </div>
      {progress !== null && <ProgressStatus progress={progress} />}
    </div>
  )
}

function Count({ chosen, shown, all }: { chosen: number; shown: number; all(): void }) {
  const { bulk } = t.triage
  return (
    <div className={styles.count}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="sm"
        aria-label={t.inbox.bulk.clear}
        title={`${t.inbox.bulk.clear} (Esc)`}
        onClick={clearSelection}
      >
        <IconX size={16} />
      </ActionIcon>
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

type BulkActions = ReturnType<typeof bulkActionsFor>

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

function useBulkKeys(bulkActions: BulkActions, setMenu: (menu: OpenMenu) => void): void {
  const { actions } = t.inbox
  const { isDone, isUnread } = bulkActions
  const latest = useRef(bulkActions)
  latest.current = bulkActions
  const keys = useMemo<Shortcut[]>(
    () => [
      { keys: 'e', label: isDone ? actions.reopen : actions.resolve, run: () => latest.current.toggleDone() },
      { keys: 'z', label: actions.snooze, run: () => setMenu('snooze') },
      { keys: 'l', label: actions.label, run: () => setMenu('label') },
      { keys: 'a', label: actions.assign, run: () => setMenu('assign') },
      { keys: 'u', label: isUnread ? actions.read : actions.unread, run: () => latest.current.toggleUnread() },
    ],
    [actions, isDone, isUnread, setMenu],
  )
  useShortcuts(t.triage.bulk.group, keys)
}

interface BulkMenuProps {
  icon: TablerIcon
  label: string
  isIdle: boolean
  isOpen: boolean
  setOpen(isOpen: boolean): void
  children(dropdown: Dropdown): ReactNode
}

function BulkMenu({ icon: Icon, label, isIdle, isOpen, setOpen, children }: BulkMenuProps) {
  const dropdown = useDropdown(isOpen, setOpen)
  return (
    <>
      <ActionIcon
        {...dropdownButtonProps(dropdown, 'dialog')}
        variant="subtle"
        color="gray"
        disabled={!isIdle}
        aria-label={label}
        title={label}
      >
        <Icon size={18} stroke={1.6} />
      </ActionIcon>
      <DropdownContent dropdown={dropdown}>{children(dropdown)}</DropdownContent>
    </>
  )
}
