import { diffWords } from '../../shared/diff-words.ts'
import { TextDiff } from '../../shared/TextDiff.tsx'
import { t } from '../../text/index.ts'
import styles from './Instructions.module.css'

/** What changes from one text to another: removed words struck through, added ones underlined. */
export function DiffView({ before, after }: { before: string | null; after: string | null }) {
  const texts = t.instructions
  if ((before ?? '') === (after ?? '')) return <p className={styles.hint}>{texts.noDifference}</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be scrollable by keyboard
    <section className={styles.diff} dir="auto" tabIndex={0} aria-label={texts.difference}>
      <TextDiff pieces={diffWords(before ?? '', after ?? '')} />
    </section>
  )
}
