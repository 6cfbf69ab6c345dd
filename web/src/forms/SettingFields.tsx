import { Select, Switch, Textarea, TextInput } from '@mantine/core'
import { t } from '../text/index.ts'
import type { Draft } from '../ui/use-draft.ts'
import styles from './Builder.module.css'
import type { FormDraft } from './draft.ts'

export function SettingFields({ draft: { value, set, errorOf } }: { draft: Draft<FormDraft> }) {
  return (
    <section className={styles.section}>
      <h2>{t.forms.settings}</h2>
      <Switch
        label={t.forms.isOpen}
        description={t.forms.isOpenHelp}
        checked={value.active}
        onChange={(event) => set({ active: event.currentTarget.checked })}
      />
      <TextInput
        label={t.forms.name}
        description={t.forms.nameHelp}
        value={value.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
        error={errorOf('name')}
      />
      <TextInput
        label={t.forms.slug}
        description={t.forms.slugHelp}
        leftSection="/f/"
        value={value.slug}
        onChange={(event) => set({ slug: event.currentTarget.value })}
        error={errorOf('slug')}
      />
      <div className={styles.pair}>
        <Select
          label={t.forms.source}
          data={Object.entries(t.forms.sources).map(([source, label]) => ({ value: source, label }))}
          value={value.source}
          onChange={(source) => set({ source: (source ?? value.source) as FormDraft['source'] })}
          allowDeselect={false}
          error={errorOf('source')}
        />
        <TextInput
          label={t.forms.status}
          value={value.status}
          onChange={(event) => set({ status: event.currentTarget.value })}
          error={errorOf('status')}
        />
      </div>
      <Textarea
        label={t.forms.origins}
        description={t.forms.originsHelp}
        placeholder="https://example.com"
        autosize
        minRows={2}
        value={value.allowedOrigins}
        onChange={(event) => set({ allowedOrigins: event.currentTarget.value })}
        error={errorOf('allowedOrigins')}
      />
    </section>
  )
}
