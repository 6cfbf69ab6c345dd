import { t } from '../../text/index.ts'
import { diffWords } from './diff.ts'
import styles from './Instructions.module.css'

/** What changes from one text to another: removed words struck through, added ones underlined. */
export function DiffView({ before, after }: { before: string | null; after: string | null }) {
  const texts = t.instructions
  if ((before ?? '') === (after ?? '')) return <p className={styles.hint}>{texts.noDifference}</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be scrollable by keyboard
    <section className={styles.diff} dir="auto" tabIndex={0} aria-label={texts.difference}>
      {diffWords(before ?? '', after ?? '').map(({ kind, text }, n) => {
        const Part = kind === 'same' ? 'span' : kind === 'added' ? 'ins' : 'del'
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one comparison
          <Part key={n}>{text}</Part>
        )
      })}
    </section>
  )
}
