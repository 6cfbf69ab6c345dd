import { Select, Switch, Textarea, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useMemo, useState } from 'react'
import { useFormPreview } from '../data/forms.ts'
import { useWorkspace } from '../data/workspace.ts'
import { t } from '../text/index.ts'
import { textField } from '../ui/draft-fields.ts'
import { statusName } from '../ui/format/lead-texts.ts'
import { Segments } from '../ui/page/Segments.tsx'
import type { Draft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Builder.module.css'
import { type FormDraft, settingsOf } from './draft.ts'
import { FieldList } from './FieldList.tsx'

/** Form editor with a preview. */
export function Builder({ draft }: { draft: Draft<FormDraft> }) {
  return (
    <div className={styles.builder}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be scrollable by keyboard */}
      <div className={styles.editor} tabIndex={0}>
        <FieldList draft={draft} />
        <TextFields draft={draft} />
        <SettingFields draft={draft} />
      </div>
      <Preview draft={draft.value} />
    </div>
  )
}

function TextFields({ draft }: { draft: Draft<FormDraft> }) {
  return (
    <section className={styles.section}>
      <h2>{t.forms.texts}</h2>
      <TextInput label={t.forms.heading} {...textField(draft, 'title')} />
      <Textarea label={t.forms.description} autosize minRows={2} {...textField(draft, 'description')} />
      <TextInput label={t.forms.submitLabel} {...textField(draft, 'submitLabel')} />
      <Textarea
        label={t.forms.thankYou}
        description={t.forms.thankYouHelp}
        autosize
        {...textField(draft, 'thankYou')}
      />
      <TextInput
        label={t.forms.redirectUrl}
        description={t.forms.redirectHelp}
        placeholder="https://"
        inputMode="url"
        {...textField(draft, 'redirectUrl')}
      />
    </section>
  )
}

const debounceMs = 150

/** Preview of the public pages as the server renders them. The frame is sandboxed: no scripts, no submissions. */
function Preview({ draft }: { draft: FormDraft }) {
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

function SettingFields({ draft }: { draft: Draft<FormDraft> }) {
  const { value, set, errorOf } = draft
  const workspaceId = useWorkspaceId()
  const { data: workspace } = useWorkspace(workspaceId)
  const statuses = [...new Set([...(workspace?.leadStatuses ?? []), value.status])]
  return (
    <section className={styles.section}>
      <h2>{t.forms.settings}</h2>
      <Switch
        label={t.forms.isOpen}
        description={t.forms.isOpenHelp}
        checked={value.active}
        onChange={(event) => set({ active: event.currentTarget.checked })}
      />
      <TextInput label={t.forms.name} description={t.forms.nameHelp} {...textField(draft, 'name')} />
      <TextInput label={t.forms.slug} description={t.forms.slugHelp} leftSection="/f/" {...textField(draft, 'slug')} />
      <div className={styles.pair}>
        <Select
          label={t.forms.source}
          data={Object.entries(t.lead.sources).map(([source, label]) => ({ value: source, label }))}
          value={value.source}
          onChange={(source) => set({ source: (source ?? value.source) as FormDraft['source'] })}
          allowDeselect={false}
          error={errorOf('source')}
        />
        <Select
          label={t.forms.status}
          data={statuses.map((status) => ({ value: status, label: statusName(status) }))}
          value={value.status}
          onChange={(status) => set({ status: status ?? value.status })}
          allowDeselect={false}
          error={errorOf('status')}
        />
      </div>
      <Textarea
        label={t.forms.origins}
        description={t.forms.originsHelp}
        placeholder="https://example.com"
        autosize
        minRows={2}
        {...textField(draft, 'allowedOrigins')}
      />
    </section>
  )
}
