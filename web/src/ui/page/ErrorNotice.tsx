import { Button } from '@mantine/core'
import { t } from '../../text/index.ts'
import { wordsFor } from '../format/failure-words.ts'
import styles from './states.module.css'

interface ErrorNoticeProps {
  error: unknown
  retry?: () => void
}

/** What happened, what was kept, what to do: in place of a list or a page that could not be had. */
export function ErrorNotice({ error, retry }: ErrorNoticeProps) {
  const { title, help, reference } = wordsFor(error)
  return (
    <div className={styles.state} role="alert">
      <h2 className={styles.title}>{title}</h2>
      {help !== '' && <p className={styles.help}>{help}</p>}
      {reference !== null && <p className={styles.help}>{t.common.failure.reference({ id: reference })}</p>}
      {retry !== undefined && (
        <Button variant="default" onClick={retry}>
          {t.common.retry}
        </Button>
      )}
    </div>
  )
}
