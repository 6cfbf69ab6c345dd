import { IconCircleCheck } from '@tabler/icons-react'
import { useKeyCalls } from '../../data/keys.ts'
import { t } from '../../text/index.ts'
import { formatDateTimeSeconds } from '../../ui/format/time.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './ConnectPage.module.css'

interface FirstCallProps {
  /** Null while there is no key yet. */
  keyId: string | null
  /** When the page was opened. */
  since: string
}

/** Says whether the key has been used since then. */
export function FirstCall({ keyId, since }: FirstCallProps) {
  const texts = t.keys.connect
  if (keyId !== null) return <CallOf keyId={keyId} since={since} />
  return (
    <p className={styles.call} role="status">
      <span className={styles.waiting} aria-hidden="true" />
      {texts.waitingForGrant}
    </p>
  )
}

function CallOf({ keyId, since }: { keyId: string; since: string }) {
  const texts = t.keys.connect
  const { data: calls = [] } = useKeyCalls(useWorkspaceId(), keyId)
  const first = calls.findLast(({ at }) => at >= since)
  if (first === undefined) {
    return (
      <p className={styles.call} role="status">
        <span className={styles.waiting} aria-hidden="true" />
        {texts.waiting}
      </p>
    )
  }
  const call = first.verb ?? `${first.method} ${first.route}`
  const isGood = first.status < 400
  return (
    <p className={styles.call} role="status" data-tone={isGood ? 'good' : 'bad'}>
      {isGood && <IconCircleCheck size={20} aria-hidden="true" />}
      <span>
        {isGood
          ? texts.connected({ call, time: formatDateTimeSeconds(first.at) })
          : texts.refused({ call, status: first.status })}
      </span>
    </p>
  )
}
