import { Button } from '@mantine/core'
import { Failure } from '../../api/failure.ts'
import { t } from '../../text/index.ts'
import styles from './states.module.css'

interface TroubleProps {
  error: unknown
  retry?: () => void
}

/** What happened, what was kept, what to do: in place of a list or a page that could not be had. */
export function Trouble({ error, retry }: TroubleProps) {
  const { title, help, reference } = wordsFor(error)
  return (
    <div className={styles.state} role="alert">
      <h2 className={styles.title}>{title}</h2>
      {help !== '' && <p className={styles.help}>{help}</p>}
      {reference !== null && <p className={styles.help}>{t.common.failure.reference(reference)}</p>}
      {retry !== undefined && (
        <Button variant="default" onClick={retry}>
          {t.common.retry}
        </Button>
      )}
    </div>
  )
}

/** The failure in the reader's words, for a line beside what failed. */
export function sentenceFor(error: unknown): string {
  const { title, help } = wordsFor(error)
  return title === t.common.failure.title ? help : title
}

function wordsFor(error: unknown): { title: string; help: string; reference: string | null } {
  const { failure } = t.common
  if (!(error instanceof Failure)) return { title: failure.title, help: failure.unexpected, reference: null }
  if (error.isOffline) return { title: failure.title, help: failure.offline, reference: null }
  if (error.status === 403) return { title: failure.denied, help: failure.deniedHelp, reference: null }
  if (error.status === 404) return { title: failure.notFound, help: '', reference: null }
  const help = error.status >= 500 ? failure.unexpected : [error.message, ...error.issues.values()].join('. ')
  return { title: failure.title, help, reference: error.status >= 500 ? error.requestId : null }
}
