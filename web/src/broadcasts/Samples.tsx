import { useDeferredValue } from 'react'
import { type BroadcastDraft, useBroadcastPreview } from '../data/outreach/broadcasts.ts'
import { t } from '../text/index.ts'
import { errorSentence } from '../ui/format/error-texts.ts'
import { formatNumber } from '../ui/format/time.ts'
import { Section } from '../ui/page/Section.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Broadcasts.module.css'

/** The messages as some leads of the audience would get them. */
export function Samples({ draft }: { draft: BroadcastDraft | null }) {
  const request = useDeferredValue(
    draft && { connectionId: draft.connectionId, audience: draft.audience, variants: draft.variants },
  )
  const { data, error } = useBroadcastPreview(useWorkspaceId(), request)
  const texts = t.broadcasts
  return (
    <Section title={texts.steps.preview} help={texts.steps.previewHelp}>
      {error !== null && <p role="alert">{errorSentence(error)}</p>}
      {draft === null && <p className={styles.muted}>{texts.incomplete}</p>}
      {data != null && (
        <>
          <p className={styles.muted}>{texts.matching({ n: data.total, shown: formatNumber(data.total) })}</p>
          <ul className={styles.samples} aria-label={texts.steps.preview}>
            {data.rows.flatMap(({ leadId, name, texts: filled }) =>
              filled.map((text, n) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: variants have no ids
                <li key={`${leadId} ${n}`} dir="auto">
                  <span className={styles.muted}>{name}</span>
                  <br />
                  {text ?? texts.reasons.missing_value}
                </li>
              )),
            )}
          </ul>
        </>
      )}
    </Section>
  )
}
