import { Button } from '@mantine/core'
import { type DeviceSession, endOtherSessions, endSession, sessionsKey, useSessions } from '../data/team/profile.ts'
import { signOut } from '../session/session.ts'
import { t } from '../text/index.ts'
import { Chip } from '../ui/Chip.tsx'
import { formatDateTime, timeAgo } from '../ui/format/time.ts'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { Section } from '../ui/page/Section.tsx'
import { useListChange } from '../ui/use-list-change.ts'
import styles from './Sessions.module.css'

/** Sessions of the person. */
export function Sessions() {
  const texts = t.profile.sessions
  const query = useSessions()
  const change = useListChange<DeviceSession>(sessionsKey)
  const end = ({ id }: DeviceSession) =>
    void change(
      (list) => list.filter((one) => one.id !== id),
      () => endSession(id),
    )
  const endOthers = () =>
    void change(
      (list) => list.filter((one) => one.current),
      async () => showToast(texts.othersEnded({ count: (await endOtherSessions()).ended })),
    )
  const hasOthers = query.data?.some((one) => !one.current) ?? false
  return (
    <Section
      title={texts.title}
      help={texts.help}
      footer={
        hasOthers && (
          <Button variant="light" color="red" onClick={endOthers}>
            {texts.endOthers}
          </Button>
        )
      }
    >
      <QueryBoundary query={query} rows={2}>
        {(sessions) => (
          <ul className={styles.list} aria-label={texts.title}>
            {sessions.map((one) => (
              <li key={one.id} className={styles.row}>
                <div className={styles.text}>
                  <strong>
                    {one.device} {one.current && <Chip tone="accent">{texts.current}</Chip>}
                  </strong>
                  <span title={formatDateTime(one.lastSeenAt)}>
                    {texts.by[one.signedInBy]} · {texts.seen({ ago: timeAgo(one.lastSeenAt) })}
                  </span>
                </div>
                <Button
                  size="compact-sm"
                  variant="subtle"
                  color="red"
                  aria-label={one.current ? t.common.signOut : texts.endOf({ device: one.device })}
                  onClick={() => (one.current ? void signOut().catch(showError) : end(one))}
                >
                  {one.current ? t.common.signOut : texts.end}
                </Button>
              </li>
            ))}
          </ul>
        )}
      </QueryBoundary>
    </Section>
  )
}
