import { useState } from 'react'
import type { Message } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { DropdownContent, dropdownButtonProps, useDropdown } from '../../ui/overlay/dropdown.tsx'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import styles from './parts.module.css'

const PreviousVersions = prefetchedComponent(() => import('./PreviousVersions.tsx'))

type RevisedMessage = Pick<Message, 'text' | 'editedAt' | 'withdrawnAt' | 'former'>

/** Marks an edited or deleted message; a click shows the previous version. */
export function Revision({ message: { text, editedAt, withdrawnAt, former } }: { message: RevisedMessage }) {
  const [isOpen, setOpen] = useState(false)
  const dropdown = useDropdown(isOpen, setOpen)
  const at = withdrawnAt ?? editedAt
  if (at === null) return null
  const isEmptied = withdrawnAt !== null && text === ''
  const word = isEmptied ? t.media.former : withdrawnAt === null ? t.media.edited : t.media.withdrawn
  if (former.length === 0) {
    return (
      <span className={styles.revision} title={formatDateTime(at)}>
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
        aria-label={isEmptied ? word : `${word}: ${t.media.former}`}
        {...dropdownButtonProps(dropdown, 'dialog')}
      >
        {word}
      </button>
      <DropdownContent dropdown={dropdown}>
        <PreviousVersions dropdown={dropdown} former={former} />
      </DropdownContent>
    </>
  )
}
