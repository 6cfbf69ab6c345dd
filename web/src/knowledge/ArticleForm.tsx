import { MultiSelect, Select, TagsInput, Textarea, TextInput } from '@mantine/core'
import { useApiKeys } from '../data/keys.ts'
import { type ArticleInput, articleKinds } from '../data/team/knowledge.ts'
import { t } from '../text/index.ts'
import { languageName } from '../ui/format/language-name.ts'
import { localMinute, readLocalInput } from '../ui/format/local-time.ts'
import { Segments } from '../ui/page/Segments.tsx'
import type { Draft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { languageCodes } from './article-parts.tsx'
import styles from './Knowledge.module.css'

export type ArticleFormDraft = Draft<ArticleInput>

/** Fields of an article. */
export function ArticleForm({ draft, isFocused = false }: { draft: ArticleFormDraft; isFocused?: boolean }) {
  const { value, set, errorOf } = draft
  const { fields, kinds } = t.knowledge
  return (
    <>
      <Segments
        label={fields.kind}
        data={articleKinds.map((kind) => ({ value: kind, label: kinds[kind] }))}
        value={value.kind}
        onChange={(kind) => set({ kind })}
      />
      <TextInput
        label={fields.title}
        description={fields.titleHelp}
        value={value.title}
        maxLength={200}
        dir="auto"
        error={errorOf('title')}
        autoComplete="off"
        {...(isFocused && { autoFocus: true })}
        onChange={({ currentTarget }) => set({ title: currentTarget.value })}
      />
      <Textarea
        label={fields.body}
        description={fields.bodyHelp}
        value={value.body}
        maxLength={50_000}
        dir="auto"
        autosize
        minRows={8}
        maxRows={24}
        error={errorOf('body')}
        onChange={({ currentTarget }) => set({ body: currentTarget.value })}
      />
      <div className={styles.pair}>
        <Select
          label={fields.language}
          data={languageCodes(value.language).map((code) => ({ value: code, label: languageName(code) }))}
          value={value.language}
          searchable
          allowDeselect={false}
          error={errorOf('language')}
          onChange={(language) => language !== null && set({ language })}
        />
        <TagsInput
          label={fields.tags}
          value={value.tags}
          maxTags={20}
          error={errorOf('tags')}
          onChange={(tags) => set({ tags: tags.map((tag) => tag.slice(0, 50)) })}
        />
      </div>
      <Audience draft={draft} />
      <div className={styles.pair}>
        <Time draft={draft} field="validFrom" />
        <Time draft={draft} field="validUntil" />
      </div>
    </>
  )
}

/** Agents that can read it: all, or those with some keys. */
function Audience({ draft: { value, set, errorOf } }: { draft: ArticleFormDraft }) {
  const { data: keys = [] } = useApiKeys(useWorkspaceId())
  const { fields } = t.knowledge
  const usable = keys.filter(({ id, status }) => status === 'active' || value.keyIds?.includes(id))
  return (
    <MultiSelect
      label={fields.audience}
      description={fields.audienceHelp}
      placeholder={value.keyIds === null ? fields.everyKey : ''}
      data={usable.map(({ id, name }) => ({ value: id, label: name }))}
      value={value.keyIds ?? []}
      maxValues={100}
      clearable
      error={errorOf('keyIds')}
      onChange={(ids) => set({ keyIds: ids.length === 0 ? null : ids })}
    />
  )
}

function Time({ draft, field }: { draft: ArticleFormDraft; field: 'validFrom' | 'validUntil' }) {
  const { value, set, errorOf } = draft
  const { fields } = t.knowledge
  const time = value[field]
  return (
    <TextInput
      type="datetime-local"
      label={fields[field]}
      value={time === null ? '' : localMinute(time)}
      error={errorOf(field)}
      onChange={({ currentTarget }) => set({ [field]: readLocalInput(currentTarget.value, '') || null })}
    />
  )
}
