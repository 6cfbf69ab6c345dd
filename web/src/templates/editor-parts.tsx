import type { TemplateLimits } from '../data/team/templates.ts'
import styles from './Editor.module.css'
import type { DraftEditor } from './use-draft-editor.ts'

/** What the parts of the editor need. */
export interface PartProps {
  editor: DraftEditor
  limits: TemplateLimits | undefined
  /** Returns the error of a field; what is only missing is an error once a submission was tried. */
  errorOf(path: string): string | undefined
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
