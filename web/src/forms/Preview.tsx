import { useDebouncedValue } from '@mantine/hooks'
import { useMemo, useState } from 'react'
import { useFormPreview } from '../data/forms.ts'
import { t } from '../text/index.ts'
import { Segments } from '../ui/page/Segments.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Builder.module.css'
import { type FormDraft, settingsOf } from './draft.ts'

const debounceMs = 150

/** Preview of the public pages as the server renders them. The frame is sandboxed: no scripts, no submissions. */
export function Preview({ draft }: { draft: FormDraft }) {
  const workspaceId = useWorkspaceId()
  const [shows, setShows] = useState<'form' | 'thanks'>('form')
  const [width, setWidth] = useState<'phone' | 'computer'>('phone')
  const [settings] = useDebouncedValue(
    useMemo(() => ({ ...settingsOf(draft), name: draft.name.trim() || '…', slug: 'preview', active: true }), [draft]),
    debounceMs,
  )
  const query = useFormPreview(workspaceId, settings)
  const [last, setLast] = useState(query.data)
  if (query.data !== undefined && query.data !== last) setLast(query.data)
  const html = shows === 'form' ? last?.page : last?.thanks
  const choice = <T extends string>(label: string, names: Record<T, string>, value: T, choose: (to: T) => void) => (
    <Segments
      label={label}
      data={(Object.entries(names) as [T, string][]).map(([one, words]) => ({ value: one, label: words }))}
      value={value}
      onChange={choose}
    />
  )
  return (
    <section className={styles.preview} aria-label={t.forms.preview}>
      <div className={styles.looks}>
        {choice(t.forms.preview, t.forms.previewOf, shows, setShows)}
        <div className={styles.width}>{choice(t.forms.widths[width], t.forms.widths, width, setWidth)}</div>
        {query.isError && <span className={styles.waits}>{t.forms.previewIncomplete}</span>}
      </div>
      {html !== undefined && (
        <iframe
          className={styles.frame}
          data-width={width}
          title={t.forms.preview}
          sandbox="allow-same-origin"
          srcDoc={html}
        />
      )}
    </section>
  )
}
