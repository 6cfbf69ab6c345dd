import { useState } from 'react'
import type { Message } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { fullMoment } from '../../ui/format/time.ts'
import { Dropped, dropButton, useDrop } from '../../ui/overlay/drop.tsx'
import { later } from '../../ui/overlay/later.ts'
import styles from './parts.module.css'

const FormerTexts = later(() => import('./FormerTexts.tsx'))

type Revised = Pick<Message, 'editedAt' | 'withdrawnAt' | 'former'>

/** That a message was changed or taken back, and by a click what it said before. */
export function Revision({ message: { editedAt, withdrawnAt, former } }: { message: Revised }) {
  const [isOpen, setOpen] = useState(false)
  const drop = useDrop(isOpen, setOpen)
  const at = withdrawnAt ?? editedAt
  if (at === null) return null
  const word = withdrawnAt === null ? t.media.edited : t.media.withdrawn
  if (former.length === 0) {
    return (
      <span className={styles.revision} title={fullMoment(at)}>
        {word}
      </span>
    )
  }
  return (
    <>
      <button
        type="button"
        className={styles.revision}
        title={t.media.former}
        aria-label={`${word}: ${t.media.former}`}
        {...dropButton(drop, 'dialog')}
      >
        {word}
      </button>
      <Dropped drop={drop}>
        <FormerTexts drop={drop} former={former} />
      </Dropped>
    </>
  )
}
