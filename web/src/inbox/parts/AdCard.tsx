import { IconAd2 } from '@tabler/icons-react'
import type { Message } from '../../data/inbox/types.ts'
import { safeUrl } from '../../shared/markup/link-rules.ts'
import { t } from '../../text/index.ts'
import styles from '../thread/Thread.module.css'

interface AdCardProps {
  referral: NonNullable<Message['referral']>
  /** Whether a title above already says that it is an ad. */
  isTitled?: boolean
}

/** Ad that the customer came from. */
export default function AdCard({ referral, isTitled = false }: AdCardProps) {
  const { headline, source_type: sourceType, source_url: sourceUrl, source_id: sourceId } = referral
  const href = safeUrl(sourceUrl)
  return (
    <div className={styles.ad}>
      <IconAd2 size={20} stroke={1.6} aria-hidden="true" />
      <div>
        {!isTitled && <p>{sourceType === 'post' ? t.inbox.ad.post : t.inbox.ad.ad}</p>}
        <p className={styles.adTitle} dir="auto">
          {headline ?? sourceId}
        </p>
        {href !== null && (
          <a href={href} target="_blank" rel="noopener noreferrer nofollow">
            {new URL(href).host}
          </a>
        )}
      </div>
    </div>
  )
}
