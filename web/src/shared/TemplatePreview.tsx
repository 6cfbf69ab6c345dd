import { t } from '../text/index.ts'
import styles from './TemplatePreview.module.css'
import { parseTemplate } from './template-preview.ts'

/** A template as the customer will read it, with what was typed for its values; what is still missing stands by its number. */
export function TemplatePreview({ body, values }: { body: string; values: readonly string[] }) {
  return (
    <figure className={styles.preview}>
      <figcaption>{t.compose.templates.preview}</figcaption>
      <p dir="auto">
        {parseTemplate(body, values).map((piece, n) =>
          'text' in piece ? (
            piece.text
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other name
            <mark key={n} data-empty={piece.value === '' || undefined}>
              {piece.value || `{{${piece.parameter}}}`}
            </mark>
          ),
        )}
      </p>
    </figure>
  )
}
