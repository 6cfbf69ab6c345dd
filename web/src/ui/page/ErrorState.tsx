import { Button } from '@mantine/core'
import { t } from '../../text/index.ts'
import { errorText } from '../format/error-texts.ts'
import styles from './states.module.css'

interface ErrorStateProps {
  error: unknown
  retry?: () => void
}

/** Error in place of a list or page: what happened, and what to do. */
export function ErrorState({ error, retry }: ErrorStateProps) {
  const { title, help, reference } = errorText(error)
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
