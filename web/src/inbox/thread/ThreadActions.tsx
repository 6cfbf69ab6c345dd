import { ActionIcon, Button } from '@mantine/core'
import {
  IconCircleCheck,
  IconClockPause,
  IconDots,
  IconMail,
  IconMailOpened,
  IconRotate,
  IconTag,
  IconUserPlus,
  type TablerIcon,
} from '@tabler/icons-react'
import { type ReactNode, useMemo, useRef, useState } from 'react'
import { markRead, markUnread, patchConversation } from '../../data/inbox/actions.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import type { Conversation } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { useKeys } from '../../ui/keys.ts'
import { type Drop, Dropped, dropButton, useDrop } from '../../ui/overlay/drop.tsx'
import { later } from '../../ui/overlay/later.ts'
import { sayWithUndo } from '../../ui/overlay/notices.tsx'
import { Tip } from '../../ui/overlay/Tip.tsx'
import styles from '../ThreadPane.module.css'

const AssignMenu = later(() => import('./AssignMenu.tsx'))
const LabelMenu = later(() => import('./LabelMenu.tsx'))
const SnoozeMenu = later(() => import('./SnoozeMenu.tsx'))
const MoreMenu = later(() => import('./MoreMenu.tsx'))

type OpenMenu = 'snooze' | 'label' | 'assign' | 'more' | null

interface ThreadActionsProps {
  conversation: Conversation
  close(): void
  open(id: string): void
  goOn(id: string): void
}

/** What one key does to the conversation that is open. */
export function ThreadActions({ conversation, ...ways }: ThreadActionsProps) {
  const [menu, setMenu] = useState<OpenMenu>(null)
  const { toggleDone, finish, toggleUnread } = useActs(conversation, ways)
  const { actions } = t.inbox
  const isDone = isSettled(conversation.status)
  const isUnread = conversation.unreadCount > 0
  const done = isDone ? actions.reopen : actions.resolve
  const unread = isUnread ? actions.read : actions.unread
  useKeys(
    actions.group,
    useMemo(
      () => [
        { keys: 'e', label: isDone ? actions.reopen : actions.resolveAndNext, run: finish },
        { keys: 'z', label: actions.snooze, run: () => setMenu('snooze') },
        { keys: 'l', label: actions.label, run: () => setMenu('label') },
        { keys: 'a', label: actions.assign, run: () => setMenu('assign') },
        { keys: 'u', label: unread, run: toggleUnread },
      ],
      [actions, isDone, unread, finish, toggleUnread],
    ),
  )
  const menuProps = (name: OpenMenu) => ({
    isOpen: menu === name,
    // What one menu opens another by must not be closed with the first.
    setOpen: (isOpen: boolean) => setMenu((now) => (isOpen ? name : now === name ? null : now)),
  })
  return (
    <>
      <ActionMenu icon={IconUserPlus} label={actions.assign} hint="A" {...menuProps('assign')}>
        {(drop) => <AssignMenu drop={drop} conversation={conversation} />}
      </ActionMenu>
      <ActionMenu icon={IconTag} label={actions.label} hint="L" {...menuProps('label')}>
        {(drop) => <LabelMenu drop={drop} conversation={conversation} />}
      </ActionMenu>
      <ActionMenu icon={IconClockPause} label={actions.snooze} hint="Z" {...menuProps('snooze')}>
        {(drop) => <SnoozeMenu drop={drop} conversation={conversation} />}
      </ActionMenu>
      <Act icon={isUnread ? IconMailOpened : IconMail} label={unread} hint="U" run={toggleUnread} folds />
      <ActionMenu icon={IconDots} label={t.common.more} {...menuProps('more')}>
        {(drop) => <MoreMenu drop={drop} choose={setMenu} unread={unread} toggleUnread={toggleUnread} />}
      </ActionMenu>
      <Done label={done} icon={isDone ? IconRotate : IconCircleCheck} run={toggleDone} />
    </>
  )
}

const isSettled = (status: Conversation['status']): boolean => status === 'resolved' || status === 'closed'

function useActs(conversation: Conversation, ways: Omit<ThreadActionsProps, 'conversation'>) {
  const inbox = useInbox()
  const latest = useRef({ conversation, ...ways })
  latest.current = { conversation, ...ways }
  return useMemo(() => {
    const resolve = (undone: (id: string) => void) => {
      const { id, status, snoozedUntil } = latest.current.conversation
      const before = { status, ...(status === 'snoozed' && { snoozedUntil }) }
      const undo = () => {
        void patchConversation(inbox, id, before)
        undone(id)
      }
      void patchConversation(inbox, id, { status: 'resolved' }).then((isDone) => {
        if (isDone) sayWithUndo(t.inbox.actions.resolved, undo)
      })
    }
    const reopen = () => void patchConversation(inbox, latest.current.conversation.id, { status: 'open' })
    return {
      toggleDone: () => (isSettled(latest.current.conversation.status) ? reopen() : resolve(() => {})),
      // Whoever works through the list by keys goes on with the next; undone, they are back.
      finish: () => {
        const { conversation, open, goOn } = latest.current
        if (isSettled(conversation.status)) return reopen()
        goOn(conversation.id)
        resolve(open)
      },
      // Left alone, as whoever looks at it would have read it at once.
      toggleUnread: () => {
        const { id, unreadCount } = latest.current.conversation
        if (unreadCount > 0) return void markRead(inbox, id)
        latest.current.close()
        void markUnread(inbox, id)
      },
    }
  }, [inbox])
}

/** The one act of the header that has its name beside it, where there is room. */
function Done({ label, icon: Icon, run }: { label: string; icon: TablerIcon; run(): void }) {
  return (
    <Tip label={`${label} (E)`}>
      <Button
        className={styles.done}
        variant="default"
        size="compact-sm"
        leftSection={<Icon size={16} stroke={1.6} />}
        aria-label={label}
        onClick={run}
      >
        {label}
      </Button>
    </Tip>
  )
}

interface ActProps {
  icon: TablerIcon
  label: string
  hint: string
  run(): void
  folds?: boolean
}

function Act({ icon: Icon, label, hint, run, folds = false }: ActProps) {
  return (
    <Tip label={`${label} (${hint})`}>
      <ActionIcon
        className={folds ? styles.folds : undefined}
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={label}
        onClick={run}
      >
        <Icon size={18} stroke={1.6} />
      </ActionIcon>
    </Tip>
  )
}

interface ActionMenuProps {
  icon: TablerIcon
  label: string
  /** The key that opens it. On a phone the header has no room for those that have one. */
  hint?: string
  isOpen: boolean
  setOpen(isOpen: boolean): void
  children(drop: Drop): ReactNode
}

function ActionMenu({ icon: Icon, label, hint, isOpen, setOpen, children }: ActionMenuProps) {
  const drop = useDrop(isOpen, setOpen)
  return (
    <>
      <ActionIcon
        {...dropButton(drop, 'menu')}
        className={hint === undefined ? styles.more : styles.folds}
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={label}
        title={hint === undefined ? undefined : `${label} (${hint})`}
      >
        <Icon size={18} stroke={1.6} />
      </ActionIcon>
      <Dropped drop={drop}>{children(drop)}</Dropped>
    </>
  )
}
