import type { Message } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { fullMoment } from '../../ui/format/time.ts'
import { DropPanel } from '../../ui/overlay/DropPanel.tsx'
import type { Drop } from '../../ui/overlay/drop.tsx'
import { MessageText } from './MessageText.tsx'
import styles from './parts.module.css'

export default function FormerTexts({ drop, former }: { drop: Drop; former: Message['former'] }) {
  return (
    <DropPanel drop={drop} label={t.media.former} position="top" width={340}>
      <h4 className={styles.popTitle}>{t.media.former}</h4>
      <ol className={styles.former}>
        {former.map(({ text, at }) => (
          <li key={at}>
            <time className={styles.quiet}>{fullMoment(at)}</time>
            <MessageText text={text} />
          </li>
        ))}
      </ol>
    </DropPanel>
  )
}
