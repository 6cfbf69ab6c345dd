import { ActionIcon, Button } from '@mantine/core'
import {
  IconBolt,
  IconBook,
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
import { type ReactNode, useMemo, useState } from 'react'
import { assign, moveToTeam } from '../../data/inbox/actions.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import type { Conversation } from '../../data/inbox/types.ts'
import { t, withTexts } from '../../text/index.ts'
import { type Dropdown, DropdownContent, dropdownButtonProps, useDropdown } from '../../ui/overlay/dropdown.tsx'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { Tip } from '../../ui/overlay/Tip.tsx'
import { type Shortcut, useShortcuts } from '../../ui/shortcuts.ts'
import { opensNext, useStoredToggle } from '../../ui/stored-toggles.ts'
import { useMakeArticle } from '../knowledge/use-make-article.ts'
import { useIsSelecting } from '../parts/selection.ts'
import { isResolvedOrClosed } from '../parts/selection-rules.ts'
import styles from '../ThreadPane.module.css'
import { useConversationActions } from './use-conversation-actions.ts'

const AssignPicker = prefetchedComponent(() => withTexts(() => import('../pick/AssignPicker.tsx')))
const LabelPicker = prefetchedComponent(() => withTexts(() => import('../../shared/LabelPicker.tsx')))
const MacroPicker = prefetchedComponent(() => withTexts(() => import('../pick/MacroPicker.tsx')))
const SnoozePicker = prefetchedComponent(() => withTexts(() => import('../pick/SnoozePicker.tsx')))
const MoreMenu = prefetchedComponent(() => import('./MoreMenu.tsx'))

type OpenMenu = 'snooze' | 'label' | 'assign' | 'macro' | 'more' | null

// While conversations are selected in the list, the same shortcuts apply to them.
const noKeys: readonly Shortcut[] = []

/** Actions on the open conversation, each with a shortcut. */
export function ThreadActions({ conversation }: { conversation: Conversation }) {
  const inbox = useInbox()
  const [menu, setMenu] = useState<OpenMenu>(null)
  const { toggleDone, toggleUnread, snooze, remind, setLabel } = useConversationActions(conversation)
  const makeArticle = useMakeArticle(conversation.id)
  const isChoosing = useIsSelecting()
  const advances = useStoredToggle(opensNext)
  const { actions } = t.inbox
  const isDone = isResolvedOrClosed(conversation.status)
  const isUnread = conversation.unreadCount > 0
  const done = isDone ? actions.reopen : actions.resolve
  const unread = isUnread ? actions.read : actions.unread
  const keys = useMemo(
    () => [
      {
        keys: 'e',
        label: isDone ? actions.reopen : advances ? actions.resolveAndNext : actions.resolve,
        run: toggleDone,
      },
      { keys: 'z', label: actions.snooze, run: () => setMenu('snooze') },
      { keys: 'l', label: actions.label, run: () => setMenu('label') },
      { keys: 'a', label: actions.assign, run: () => setMenu('assign') },
      { keys: 'm', label: actions.macro, run: () => setMenu('macro') },
      { keys: 'u', label: unread, run: toggleUnread },
    ],
    [actions, isDone, advances, unread, toggleDone, toggleUnread],
  )
  useShortcuts(actions.group, isChoosing ? noKeys : keys)
  const menuProps = (name: OpenMenu) => ({
    isOpen: menu === name,
    // Closing one menu must not close another that it has opened.
    setOpen: (isOpen: boolean) => setMenu((now) => (isOpen ? name : now === name ? null : now)),
  })
  return (
    <>
      <ActionMenu icon={IconUserPlus} label={actions.assign} hint="A" {...menuProps('assign')}>
        {(dropdown) => (
          <AssignPicker
            dropdown={dropdown}
            assignedTo={conversation.assignedTo}
            assign={(member) => void assign(inbox, conversation.id, member)}
            team={{ id: conversation.teamId, move: (team) => void moveToTeam(inbox, conversation.id, team) }}
          />
        )}
      </ActionMenu>
      <ActionMenu icon={IconTag} label={actions.label} hint="L" {...menuProps('label')}>
        {(dropdown) => (
          <LabelPicker dropdown={dropdown} hasLabel={(id) => conversation.labelIds.includes(id)} set={setLabel} />
        )}
      </ActionMenu>
      <ActionMenu icon={IconClockPause} label={actions.snooze} hint="Z" {...menuProps('snooze')}>
        {(dropdown) => <SnoozePicker dropdown={dropdown} snooze={snooze} remind={remind} />}
      </ActionMenu>
      <ActionMenu icon={IconBolt} label={actions.macro} hint="M" isRare {...menuProps('macro')}>
        {(dropdown) => <MacroPicker dropdown={dropdown} conversationId={conversation.id} />}
      </ActionMenu>
      <Tip label={`${unread} (U)`}>
        <ActionIcon
          className={`${styles.folds} ${styles.act}`}
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={unread}
          onClick={toggleUnread}
        >
          {isUnread ? <IconMailOpened size={18} stroke={1.6} /> : <IconMail size={18} stroke={1.6} />}
          <span>{isUnread ? actions.readShort : actions.unreadShort}</span>
        </ActionIcon>
      </Tip>
      <ActionMenu icon={IconDots} label={t.common.more} {...menuProps('more')}>
        {(dropdown) => (
          <MoreMenu
            dropdown={dropdown}
            choose={setMenu}
            unread={unread}
            toggleUnread={toggleUnread}
            makeArticle={isDone ? makeArticle : null}
          />
        )}
      </ActionMenu>
      {isDone && <ArticleButton run={makeArticle} />}
      <Tip label={`${done} (E)`}>
        <Button
          className={styles.done}
          variant="default"
          size="xs"
          leftSection={isDone ? <IconRotate size={16} stroke={1.6} /> : <IconCircleCheck size={16} stroke={1.6} />}
          onClick={toggleDone}
        >
          {done}
        </Button>
      </Tip>
    </>
  )
}

function ArticleButton({ run }: { run(): void }) {
  const label = t.articles.make
  return (
    <Tip label={label}>
      <ActionIcon
        className={`${styles.folds} ${styles.act}`}
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={label}
        onClick={run}
      >
        <IconBook size={18} stroke={1.6} />
        <span>{t.articles.makeShort}</span>
      </ActionIcon>
    </Tip>
  )
}

interface ActionMenuProps {
  icon: TablerIcon
  label: string
  /** Shortcut. On phones, the header has no space for actions that have one. */
  hint?: string
  /** Whether narrow headers leave it to the menu of all actions. */
  isRare?: boolean
  isOpen: boolean
  setOpen(isOpen: boolean): void
  children(dropdown: Dropdown): ReactNode
}

function ActionMenu({ icon: Icon, label, hint, isRare = false, isOpen, setOpen, children }: ActionMenuProps) {
  const dropdown = useDropdown(isOpen, setOpen)
  const named = `${styles.folds} ${styles.act} ${isRare ? styles.rare : ''}`
  return (
    <>
      <ActionIcon
        {...dropdownButtonProps(dropdown, hint === undefined ? 'menu' : 'dialog')}
        className={hint === undefined ? styles.more : named}
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={label}
        title={hint === undefined ? undefined : `${label} (${hint})`}
      >
        <Icon size={18} stroke={1.6} />
        {hint !== undefined && <span>{label}</span>}
      </ActionIcon>
      <DropdownContent dropdown={dropdown}>{children(dropdown)}</DropdownContent>
    </>
  )
}
