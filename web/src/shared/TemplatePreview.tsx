import { t } from '../text/index.ts'
import styles from './TemplatePreview.module.css'
import { parseTemplate } from './template-preview.ts'

/** Template as the customer will see it, with the entered values; missing ones are shown as numbers. */
export function TemplatePreview({ body, values }: { body: string; values: readonly string[] }) {
  return (
    <figure className={styles.preview}>
      <figcaption>{t.compose.templates.preview}</figcaption>
      <p dir="auto">
        {parseTemplate(body, values).map((piece, n) =>
          'text' in piece ? (
            piece.text
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: nodes have no ids
            <mark key={n} data-empty={piece.value === '' || undefined}>
              {piece.value || `{{${piece.parameter}}}`}
            </mark>
          ),
        )}
      </p>
    </figure>
  )
}
