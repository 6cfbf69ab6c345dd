import { Anchor, Button } from '@mantine/core'
import {
  IconAlarm,
  IconArrowForwardUp,
  IconAt,
  IconCheckbox,
  IconClockExclamation,
  IconCoins,
  IconHourglass,
  IconPencilCheck,
  IconPlugConnectedX,
  IconSpeakerphone,
  IconTargetArrow,
  IconUserCheck,
  type TablerIcon,
} from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { MouseEvent } from 'react'
import { markNotificationsRead, type Notification, useNotifications } from '../data/notifications.ts'
import { t } from '../text/index.ts'
import { formatDateTime, timeAgo } from '../ui/format/time.ts'
import { DropdownPanel } from '../ui/overlay/DropdownPanel.tsx'
import type { Dropdown } from '../ui/overlay/dropdown.tsx'
import { showError } from '../ui/overlay/toasts.tsx'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { useIsPhone } from '../ui/use-is-phone.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import visuallyHidden from '../ui/visually-hidden.module.css'
import styles from './BellPanel.module.css'
import { customerLabel, notificationPath, notificationText } from './notification-texts.ts'

const icons: Record<Notification['kind'], TablerIcon> = {
  mention: IconAt,
  assigned: IconUserCheck,
  handover: IconArrowForwardUp,
  draft: IconPencilCheck,
  waiting: IconHourglass,
  goal: IconTargetArrow,
  connection: IconPlugConnectedX,
  budget: IconCoins,
  task: IconCheckbox,
  scheduled: IconClockExclamation,
  silence: IconAlarm,
  broadcast: IconSpeakerphone,
}

/** Notifications, with links. */
export default function BellPanel({ dropdown }: { dropdown: Dropdown }) {
  const workspaceId = useWorkspaceId()
  const query = useNotifications(workspaceId)
  const unread = query.data?.unread ?? 0
  const close = () => dropdown.setOpen(false)
  const readAll = ({ currentTarget }: MouseEvent<HTMLElement>) => {
    // The button disappears: keep the focus in the dialog for shortcuts.
    currentTarget.closest<HTMLElement>('[role="dialog"]')?.focus()
    void markNotificationsRead(workspaceId).catch(showError)
  }
  return (
    <DropdownPanel
      dropdown={dropdown}
      label={t.common.notifications}
      position={useIsPhone() ? 'top' : 'right-end'}
      width={360}
    >
      <div className={styles.head}>
        <h2 className={styles.title}>{t.common.notifications}</h2>
        {unread > 0 && (
          <Button variant="subtle" size="compact-sm" onClick={readAll}>
            {t.notifications.readAll}
          </Button>
        )}
      </div>
      <QueryBoundary query={query} rows={4}>
        {({ notifications }) =>
          notifications.length === 0 ? (
            <EmptyState title={t.notifications.empty} help={t.notifications.emptyHelp} />
          ) : (
            <ul className={styles.list}>
              {notifications.map((notification) => (
                <Row key={notification.id} notification={notification} close={close} />
              ))}
            </ul>
          )
        }
      </QueryBoundary>
      {query.hasNextPage && (
        <Button
          variant="subtle"
          size="compact-sm"
          fullWidth
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {t.notifications.older}
        </Button>
      )}
      <div className={styles.foot}>
        <Anchor component={Link} to={`/w/${workspaceId}/profile`} hash="notifications" size="sm" onClick={close}>
          {t.notifications.toSettings}
        </Anchor>
      </div>
    </DropdownPanel>
  )
}

function Row({ notification, close }: { notification: Notification; close(): void }) {
  const workspaceId = useWorkspaceId()
  const Icon = icons[notification.kind]
  const isUnread = notification.readAt === null
  const customer = customerLabel(notification)
  const open = () => {
    close()
    if (isUnread) void markNotificationsRead(workspaceId, { ids: [notification.id] }).catch(showError)
  }
  return (
    <li>
      <Link
        to={notificationPath(workspaceId, notification)}
        className={styles.row}
        data-unread={isUnread || undefined}
        onClick={open}
      >
        <Icon size={18} stroke={1.6} aria-hidden />
        <span className={styles.text}>
          <span className={styles.sentence}>
            {isUnread && <span className={visuallyHidden.hidden}>{t.notifications.new} </span>}
            {notificationText(notification)}
          </span>
          {customer !== '' && <span className={styles.customer}>{customer}</span>}
        </span>
        <time className={styles.time} dateTime={notification.createdAt} title={formatDateTime(notification.createdAt)}>
          {timeAgo(notification.createdAt)}
        </time>
      </Link>
    </li>
  )
}
