import { Button } from '@mantine/core'
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
} from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import type { ComponentProps } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { assign, markRead, markUnread, moveToTeam, patchConversation } from '../../data/inbox/actions.ts'
import type { Changes } from '../../data/inbox/calls.ts'
import { remindOfSilence } from '../../data/inbox/follow-ups.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import type { Conversation } from '../../data/inbox/types.ts'
import { createArticleDraft } from '../../data/team/knowledge.ts'
import { t, withTexts } from '../../text/index.ts'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { Tip } from '../../ui/overlay/Tip.tsx'
import { showError, showToast, showUndoToast } from '../../ui/overlay/toasts.tsx'
import { opensNext, useStoredToggle } from '../../ui/stored-toggles.ts'
import { type DropdownControl, IconButton, IconDropdown, useDropdowns } from '../parts/IconButton.tsx'
import { useInboxContext } from '../parts/inbox-context.ts'
import { isResolvedOrClosed, useIsSelecting } from '../parts/selection.ts'
import { useTriageKeys } from '../parts/triage-keys.ts'
import styles from '../ThreadPane.module.css'

const AssignPicker = prefetchedComponent(() => withTexts(() => import('../pick/AssignPicker.tsx')))
const LabelPicker = prefetchedComponent(() => withTexts(() => import('../../shared/LabelPicker.tsx')))
const MacroPicker = prefetchedComponent(() => withTexts(() => import('../pick/MacroPicker.tsx')))
const SnoozePicker = prefetchedComponent(() => withTexts(() => import('../pick/SnoozePicker.tsx')))
const MoreMenu = prefetchedComponent(() => import('./MoreMenu.tsx'))

const menusWithKeys = ['snooze', 'label', 'assign', 'macro'] as const
type MenuWithKey = (typeof menusWithKeys)[number]

/** Actions on the open conversation, each with a shortcut. */
export function ThreadActions({ conversation }: { conversation: Conversation }) {
  const { open, controlOf } = useDropdowns<MenuWithKey | 'more'>()
  const act = useConversationActions(conversation)
  const { toggleDone, toggleUnread } = act
  const makeArticle = useMakeArticle(conversation.id)
  const isChoosing = useIsSelecting()
  const advances = useStoredToggle(opensNext)
  const { actions } = t.inbox
  const isDone = isResolvedOrClosed(conversation.status)
  const isUnread = conversation.unreadCount > 0
  const done = isDone ? actions.reopen : actions.resolve
  const unread = isUnread ? actions.read : actions.unread
  useTriageKeys(actions.group, {
    done: isDone ? actions.reopen : advances ? actions.resolveAndNext : actions.resolve,
    unread,
    menus: menusWithKeys,
    ...{ toggleDone, toggleUnread, open },
    // While conversations are selected in the list, the same shortcuts apply to them.
    isOn: !isChoosing,
  })
  return (
    <>
      <ActionMenus conversation={conversation} act={act} controlOf={controlOf} />
      <FoldingButton
        icon={isUnread ? IconMailOpened : IconMail}
        label={unread}
        tip={`${unread} (U)`}
        onClick={toggleUnread}
      >
        <span>{isUnread ? actions.readShort : actions.unreadShort}</span>
      </FoldingButton>
      <IconDropdown
        icon={IconDots}
        stroke={1.6}
        size="lg"
        label={t.common.more}
        title={undefined}
        className={styles.more}
        popup="menu"
        control={controlOf('more')}
        content={(dropdown) => (
          <MoreMenu
            dropdown={dropdown}
            choose={open}
            unread={unread}
            toggleUnread={toggleUnread}
            makeArticle={isDone ? makeArticle : null}
          />
        )}
      />
      {isDone && (
        <FoldingButton icon={IconBook} label={t.articles.make} tip={t.articles.make} onClick={makeArticle}>
          <span>{t.articles.makeShort}</span>
        </FoldingButton>
      )}
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

interface ActionMenusProps {
  conversation: Conversation
  act: ReturnType<typeof useConversationActions>
  controlOf(menu: MenuWithKey): DropdownControl
}

function ActionMenus({ conversation, act, controlOf }: ActionMenusProps) {
  const inbox = useInbox()
  const { actions } = t.inbox
  return (
    <>
      <ActionMenu
        icon={IconUserPlus}
        label={actions.assign}
        hint="A"
        control={controlOf('assign')}
        content={(dropdown) => (
          <AssignPicker
            dropdown={dropdown}
            assignedTo={conversation.assignedTo}
            assign={(member) => void assign(inbox, conversation.id, member)}
            team={{ id: conversation.teamId, move: (team) => void moveToTeam(inbox, conversation.id, team) }}
          />
        )}
      />
      <ActionMenu
        icon={IconTag}
        label={actions.label}
        hint="L"
        control={controlOf('label')}
        content={(dropdown) => (
          <LabelPicker dropdown={dropdown} hasLabel={(id) => conversation.labelIds.includes(id)} set={act.setLabel} />
        )}
      />
      <ActionMenu
        icon={IconClockPause}
        label={actions.snooze}
        hint="Z"
        control={controlOf('snooze')}
        content={(dropdown) => <SnoozePicker dropdown={dropdown} snooze={act.snooze} remind={act.remind} />}
      />
      <ActionMenu
        icon={IconBolt}
        label={actions.macro}
        hint="M"
        isRare
        control={controlOf('macro')}
        content={(dropdown) => <MacroPicker dropdown={dropdown} conversationId={conversation.id} />}
      />
    </>
  )
}

interface ActionMenuProps extends ComponentProps<typeof IconDropdown> {
  /** Shortcut. */
  hint: string
  /** Whether narrow headers leave it to the menu of all actions. */
  isRare?: boolean
}

/** On phones, the header has no space for it: there is the menu of all actions. */
function ActionMenu({ hint, isRare = false, ...dropdown }: ActionMenuProps) {
  const { label } = dropdown
  return (
    <IconDropdown
      {...dropdown}
      stroke={1.6}
      size="lg"
      title={`${label} (${hint})`}
      className={`${styles.folds} ${styles.act} ${isRare ? styles.rare : ''}`}
    >
      <span>{label}</span>
    </IconDropdown>
  )
}

const FoldingButton = (button: ComponentProps<typeof IconButton>) => (
  <IconButton {...button} stroke={1.6} size="lg" className={`${styles.folds} ${styles.act}`} />
)

/** Returns actions on the open conversation. Optionally opens the next one after an action; undo returns. */
function useConversationActions({ id, status, snoozedUntil, unreadCount, labelIds }: Conversation) {
  const inbox = useInbox()
  const inInbox = useInboxContext()
  const finish = (changes: Changes, message: string) => {
    const advances = opensNext.isOn()
    const before = { status, ...(status === 'snoozed' && { snoozedUntil }) }
    const undo = () => {
      void patchConversation(inbox, id, before)
      if (advances) inInbox.reopen(id)
    }
    // Before the conversation leaves the list, which determines the next one.
    if (advances) inInbox.openNext()
    void patchConversation(inbox, id, changes).then((isDone) => {
      if (isDone) showUndoToast(message, undo)
    })
  }
  return {
    toggleDone: () => {
      if (isResolvedOrClosed(status)) void patchConversation(inbox, id, { status: 'open' })
      else finish({ status: 'resolved' }, t.inbox.actions.resolved)
    },
    // Leaves the conversation: while open, it would be marked as read at once.
    toggleUnread: () => {
      if (unreadCount > 0) return void markRead(inbox, id)
      inInbox.close()
      void markUnread(inbox, id)
    },
    snooze: (until: Date | null) =>
      finish({ status: 'snoozed', snoozedUntil: until?.toISOString() ?? null }, t.inbox.actions.snoozed),
    /** Reminds the reader if the customer has not written in so many days. */
    remind: (days: number) => void remindOfSilence(inbox, id, days).catch(showError),
    setLabel: (labelId: string, isOn: boolean) => {
      const others = labelIds.filter((one) => one !== labelId)
      void patchConversation(inbox, id, { labelIds: isOn ? [...others, labelId] : others })
    },
  }
}

/** Returns what makes a draft of an article of a resolved conversation, and opens it. */
function useMakeArticle(conversationId: string): () => void {
  const { queries, workspaceId } = useInbox()
  const navigate = useNavigate()
  return () =>
    void createArticleDraft(queries, workspaceId, conversationId).then(
      ({ id: draftId }) =>
        navigate({ to: '/w/$workspaceId/knowledge/drafts/$draftId', params: { workspaceId, draftId } }),
      (error) =>
        error instanceof ApiError && error.code === 'NO_TEXT' ? showToast(t.articles.noText) : showError(error),
    )
}
