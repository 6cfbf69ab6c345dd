import { ActionIcon, Menu, Tooltip } from '@mantine/core'
import {
  IconCheck,
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
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { me } from '../app/session.ts'
import { t } from '../text/index.ts'
import { useKeys } from '../ui/keys.ts'
import { sayWithUndo } from '../ui/notices.tsx'
import { assign, markRead, markUnread, patchConversation } from './actions.ts'
import { labelColor } from './label-color.ts'
import { useLabels, useMembers } from './lookups.ts'
import { useInbox } from './queries.ts'
import { snoozeTimes } from './snooze-times.ts'
import styles from './ThreadPane.module.css'
import type { Conversation } from './types.ts'

type OpenMenu = 'snooze' | 'label' | 'assign' | null

interface ThreadActionsProps {
  workspaceId: string
  conversation: Conversation
  close(): void
}

/** What one key does to the conversation that is open. */
export function ThreadActions({ workspaceId, conversation, close }: ThreadActionsProps) {
  const [menu, setMenu] = useState<OpenMenu>(null)
  const { toggleDone, toggleUnread } = useActs(conversation, close)
  const { actions } = t.inbox
  const isDone = isSettled(conversation.status)
  const isUnread = conversation.unreadCount > 0
  const done = isDone ? actions.reopen : actions.resolve
  const unread = isUnread ? actions.read : actions.unread
  useKeys(
    actions.group,
    useMemo(
      () => [
        { keys: 'e', label: done, run: toggleDone },
        { keys: 'z', label: actions.snooze, run: () => setMenu('snooze') },
        { keys: 'l', label: actions.label, run: () => setMenu('label') },
        { keys: 'a', label: actions.assign, run: () => setMenu('assign') },
        { keys: 'u', label: unread, run: toggleUnread },
      ],
      [actions, done, unread, toggleDone, toggleUnread],
    ),
  )
  const menuProps = (name: OpenMenu) => ({
    isOpen: menu === name,
    setOpen: (isOpen: boolean) => setMenu(isOpen ? name : null),
  })
  return (
    <>
      <ActionMenu icon={IconUserPlus} label={actions.assign} hint="A" {...menuProps('assign')}>
        <AssignItems workspaceId={workspaceId} conversation={conversation} />
      </ActionMenu>
      <ActionMenu icon={IconTag} label={actions.label} hint="L" {...menuProps('label')}>
        <LabelItems workspaceId={workspaceId} conversation={conversation} />
      </ActionMenu>
      <ActionMenu icon={IconClockPause} label={actions.snooze} hint="Z" {...menuProps('snooze')}>
        <SnoozeItems conversation={conversation} />
      </ActionMenu>
      <Act icon={isUnread ? IconMailOpened : IconMail} label={unread} hint="U" run={toggleUnread} folds />
      <MoreMenu choose={setMenu} unread={unread} toggleUnread={toggleUnread} />
      <Act icon={isDone ? IconRotate : IconCircleCheck} label={done} hint="E" run={toggleDone} />
    </>
  )
}

const isSettled = (status: Conversation['status']): boolean => status === 'resolved' || status === 'closed'

function useActs(conversation: Conversation, close: () => void) {
  const inbox = useInbox()
  const latest = useRef({ conversation, close })
  latest.current = { conversation, close }
  return useMemo(
    () => ({
      toggleDone: () => {
        const { id, status, snoozedUntil } = latest.current.conversation
        if (isSettled(status)) return void patchConversation(inbox, id, { status: 'open' })
        const before = { status, ...(status === 'snoozed' && { snoozedUntil }) }
        void patchConversation(inbox, id, { status: 'resolved' }).then((isDone) => {
          if (isDone) sayWithUndo(t.inbox.actions.resolved, () => void patchConversation(inbox, id, before))
        })
      },
      // Left alone, as whoever looks at it would have read it at once.
      toggleUnread: () => {
        const { id, unreadCount } = latest.current.conversation
        if (unreadCount > 0) return void markRead(inbox, id)
        latest.current.close()
        void markUnread(inbox, id)
      },
    }),
    [inbox],
  )
}

interface ActProps {
  icon: TablerIcon
  label: string
  hint: string
}

function Act({ icon: Icon, label, hint, run, folds = false }: ActProps & { run(): void; folds?: boolean }) {
  return (
    <Tooltip label={`${label} (${hint})`}>
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
    </Tooltip>
  )
}

interface MoreMenuProps {
  choose(menu: OpenMenu): void
  unread: string
  toggleUnread(): void
}

/** On a phone, what the header has no room for. */
function MoreMenu({ choose, unread, toggleUnread }: MoreMenuProps) {
  const { actions } = t.inbox
  return (
    <Menu position="bottom-end" width={220} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <ActionIcon className={styles.more} variant="subtle" color="gray" size="lg" aria-label={t.common.more}>
          <IconDots size={18} stroke={1.6} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {(['assign', 'label', 'snooze'] as const).map((menu) => (
          <Menu.Item key={menu} onClick={() => choose(menu)}>
            {actions[menu]}
          </Menu.Item>
        ))}
        <Menu.Item onClick={toggleUnread}>{unread}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

interface ActionMenuProps extends ActProps {
  isOpen: boolean
  setOpen(isOpen: boolean): void
  children: ReactNode
}

function ActionMenu({ icon: Icon, label, hint, isOpen, setOpen, children }: ActionMenuProps) {
  return (
    <Menu
      opened={isOpen}
      onChange={setOpen}
      position="bottom-end"
      width={240}
      returnFocus
      withInitialFocusPlaceholder={false}
    >
      <Menu.Target>
        <ActionIcon
          className={styles.folds}
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={label}
          title={`${label} (${hint})`}
        >
          <Icon size={18} stroke={1.6} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown mah={360} style={{ overflowY: 'auto' }}>
        <FocusFirst />
        <Menu.Label>{label}</Menu.Label>
        {children}
      </Menu.Dropdown>
    </Menu>
  )
}

/** A menu that a key opened is worked by keys. */
function FocusFirst() {
  const here = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      here.current?.closest('[role="menu"]')?.querySelector<HTMLElement>('[data-menu-item]')?.focus()
    })
    return () => cancelAnimationFrame(frame)
  }, [])
  return <span ref={here} hidden />
}

function AssignItems({ workspaceId, conversation: { id, assignedTo } }: Omit<ThreadActionsProps, 'close'>) {
  const inbox = useInbox()
  const members = useMembers(workspaceId)
  const { id: userId, name } = me()
  const colleagues = members.filter((member) => member.userId !== userId)
  const item = (key: string | null, label: string, member: { id: string; name: string } | null) => (
    <Menu.Item
      key={key ?? 'nobody'}
      rightSection={assignedTo === key && <IconCheck size={16} />}
      onClick={() => void assign(inbox, id, member)}
    >
      {label}
    </Menu.Item>
  )
  return (
    <>
      {item(userId, t.inbox.actions.toMe, { id: userId, name })}
      {colleagues.map((one) => item(one.userId, one.name, { id: one.userId, name: one.name }))}
      <Menu.Divider />
      {item(null, t.inbox.actions.nobody, null)}
    </>
  )
}

function LabelItems({ workspaceId, conversation: { id, labelIds } }: Omit<ThreadActionsProps, 'close'>) {
  const inbox = useInbox()
  const labels = useLabels(workspaceId)
  if (labels.size === 0) return <Menu.Item disabled>{t.inbox.actions.noLabels}</Menu.Item>
  return [...labels.values()].map((label) => {
    const has = labelIds.includes(label.id)
    const next = has ? labelIds.filter((one) => one !== label.id) : [...labelIds, label.id]
    return (
      <Menu.Item
        key={label.id}
        role="menuitemcheckbox"
        aria-checked={has}
        closeMenuOnClick={false}
        leftSection={<i className={styles.label} style={{ background: labelColor(label.color) }} />}
        rightSection={has && <IconCheck size={16} />}
        onClick={() => void patchConversation(inbox, id, { labelIds: next })}
      >
        {label.name}
      </Menu.Item>
    )
  })
}

function SnoozeItems({ conversation: { id, status, snoozedUntil } }: { conversation: Conversation }) {
  const inbox = useInbox()
  const before = { status, ...(status === 'snoozed' && { snoozedUntil }) }
  const snooze = (until: Date | null) =>
    patchConversation(inbox, id, { status: 'snoozed', snoozedUntil: until?.toISOString() ?? null }).then((isDone) => {
      if (isDone) sayWithUndo(t.inbox.actions.snoozed, () => void patchConversation(inbox, id, before))
    })
  return snoozeTimes(new Date()).map(({ name, until }) => (
    <Menu.Item key={name} onClick={() => void snooze(until)}>
      {t.inbox.snoozes[name]}
    </Menu.Item>
  ))
}
