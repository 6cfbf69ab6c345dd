import { ApiError } from '../api/api-error.ts'
import type { TemplateLimits } from '../data/team/templates.ts'
import { t } from '../text/index.ts'
import { errorSentence } from '../ui/format/error-texts.ts'
import styles from './Editor.module.css'
import type { DraftEditor } from './use-draft-editor.ts'

/** What the parts of the editor need. */
export interface PartProps {
  editor: DraftEditor
  limits: TemplateLimits | undefined
  /** Returns the error of a field; what is only missing is an error once a submission was tried. */
  errorOf(path: string): string | undefined
}

/** Says why the platform did not take something, and quotes its own words; null if it gave none. */
export function refusalOf(error: unknown): { text: string; quote: string | null } {
  if (!(error instanceof ApiError)) return { text: errorSentence(error), quote: null }
  const { codes, refused } = t.templates.editor
  const known: Record<string, string> = codes
  const words = error.data.platform_message
  return {
    text: (error.code !== null && known[error.code]) || errorSentence(error),
    quote: typeof words === 'string' ? refused({ words }) : null,
  }
}

/** Characters of a text and its limit. */
export function Count({ text, limit }: { text: string; limit: number | undefined }) {
  const length = [...text].length
  if (limit === undefined) return null
  return (
    <span className={styles.count} data-over={length > limit || undefined}>
      {length}/{limit}
    </span>
  )
}
