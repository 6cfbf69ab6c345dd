import type { Message } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { DropdownPanel } from '../../ui/overlay/DropdownPanel.tsx'
import type { Dropdown } from '../../ui/overlay/dropdown.tsx'
import { MessageText } from './MessageText.tsx'
import styles from './parts.module.css'

export default function PreviousVersions({ dropdown, former }: { dropdown: Dropdown; former: Message['former'] }) {
  return (
    <DropdownPanel dropdown={dropdown} label={t.media.former} position="top" width={340}>
      <h4 className={styles.popTitle}>{t.media.former}</h4>
      <ol className={styles.former}>
        {former.map(({ text, at }) => (
          <li key={at}>
            <time className={styles.muted}>{formatDateTime(at)}</time>
            <MessageText text={text} />
          </li>
        ))}
      </ol>
    </DropdownPanel>
  )
}
