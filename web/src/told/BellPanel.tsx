import { Anchor, Button } from '@mantine/core'
import {
  IconArrowForwardUp,
  IconAt,
  IconHourglass,
  IconPlugConnectedX,
  IconUserCheck,
  type TablerIcon,
} from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { MouseEvent } from 'react'
import { markNoticesRead, type Notice, useNotices } from '../data/notices.ts'
import { t } from '../text/index.ts'
import { ago, fullMoment } from '../ui/format/time.ts'
import { DropPanel } from '../ui/overlay/DropPanel.tsx'
import type { Drop } from '../ui/overlay/drop.tsx'
import { complain } from '../ui/overlay/notices.tsx'
import { Empty } from '../ui/page/Empty.tsx'
import { Loaded } from '../ui/page/PageBody.tsx'
import unseen from '../ui/unseen.module.css'
import { useIsPhone } from '../ui/use-is-phone.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './BellPanel.module.css'
import { customerOf, placeOf, sentenceOf } from './words.ts'

const icons: Record<Notice['kind'], TablerIcon> = {
  mention: IconAt,
  assigned: IconUserCheck,
  handover: IconArrowForwardUp,
  waiting: IconHourglass,
  connection: IconPlugConnectedX,
}

/** What one was told of, each leading to where it is looked at. */
export default function BellPanel({ drop }: { drop: Drop }) {
  const workspaceId = useWorkspaceId()
  const query = useNotices(workspaceId)
  const unread = query.data?.unread ?? 0
  const close = () => drop.setOpen(false)
  const readAll = ({ currentTarget }: MouseEvent<HTMLElement>) => {
    // The button goes, and the keys are to be heard here all the same.
    currentTarget.closest<HTMLElement>('[role="dialog"]')?.focus()
    void markNoticesRead(workspaceId).catch(complain)
  }
  return (
    <DropPanel drop={drop} label={t.common.notifications} position={useIsPhone() ? 'top' : 'right-end'} width={360}>
      <div className={styles.head}>
        <h2 className={styles.title}>{t.common.notifications}</h2>
        {unread > 0 && (
          <Button variant="subtle" size="compact-sm" onClick={readAll}>
            {t.told.readAll}
          </Button>
        )}
      </div>
      <Loaded query={query} rows={4}>
        {({ notices }) =>
          notices.length === 0 ? (
            <Empty title={t.told.empty} help={t.told.emptyHelp} />
          ) : (
            <ul className={styles.list}>
              {notices.map((notice) => (
                <Row key={notice.id} notice={notice} close={close} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {query.hasNextPage && (
        <Button
          variant="subtle"
          size="compact-sm"
          fullWidth
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {t.told.older}
        </Button>
      )}
      <div className={styles.foot}>
        <Anchor component={Link} to={`/w/${workspaceId}/profile`} hash="notifications" size="sm" onClick={close}>
          {t.told.toSettings}
        </Anchor>
      </div>
    </DropPanel>
  )
}

function Row({ notice, close }: { notice: Notice; close(): void }) {
  const workspaceId = useWorkspaceId()
  const Icon = icons[notice.kind]
  const isUnread = notice.readAt === null
  const customer = customerOf(notice)
  const open = () => {
    close()
    if (isUnread) void markNoticesRead(workspaceId, { ids: [notice.id] }).catch(complain)
  }
  return (
    <li>
      <Link to={placeOf(workspaceId, notice)} className={styles.row} data-unread={isUnread || undefined} onClick={open}>
        <Icon size={18} stroke={1.6} aria-hidden />
        <span className={styles.words}>
          <span className={styles.sentence}>
            {isUnread && <span className={unseen.unseen}>{t.told.new} </span>}
            {sentenceOf(notice)}
          </span>
          {customer !== '' && <span className={styles.customer}>{customer}</span>}
        </span>
        <time className={styles.time} dateTime={notice.createdAt} title={fullMoment(notice.createdAt)}>
          {ago(notice.createdAt)}
        </time>
      </Link>
    </li>
  )
}
