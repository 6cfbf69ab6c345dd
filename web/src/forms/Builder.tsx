import { Textarea, TextInput } from '@mantine/core'
import { t } from '../text/index.ts'
import type { Draft } from '../ui/use-draft.ts'
import styles from './Builder.module.css'
import type { FormDraft } from './draft.ts'
import { FieldList } from './FieldList.tsx'
import { Preview } from './Preview.tsx'
import { SettingFields } from './SettingFields.tsx'

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

function TextFields({ draft: { value, set, errorOf } }: { draft: Draft<FormDraft> }) {
  const field = (name: 'title' | 'description' | 'submitLabel' | 'thankYou' | 'redirectUrl') => ({
    value: value[name],
    onChange: (event: { currentTarget: { value: string } }) => set({ [name]: event.currentTarget.value }),
    error: errorOf(name),
  })
  return (
    <section className={styles.section}>
      <h2>{t.forms.texts}</h2>
      <TextInput label={t.forms.heading} {...field('title')} />
      <Textarea label={t.forms.description} autosize minRows={2} {...field('description')} />
      <TextInput label={t.forms.submitLabel} {...field('submitLabel')} />
      <Textarea label={t.forms.thankYou} description={t.forms.thankYouHelp} autosize {...field('thankYou')} />
      <TextInput
        label={t.forms.redirectUrl}
        description={t.forms.redirectHelp}
        placeholder="https://"
        inputMode="url"
        {...field('redirectUrl')}
      />
    </section>
  )
}
