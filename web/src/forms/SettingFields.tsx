import { Select, Switch, Textarea, TextInput } from '@mantine/core'
import { useWorkspace } from '../data/workspace.ts'
import { t } from '../text/index.ts'
import { statusName } from '../ui/format/lead-texts.ts'
import type { Draft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Builder.module.css'
import type { FormDraft } from './draft.ts'

interface SettingFieldsProps {
  draft: Draft<FormDraft>
}

export function SettingFields({ draft: { value, set, errorOf } }: SettingFieldsProps) {
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
        value={value.allowedOrigins}
        onChange={(event) => set({ allowedOrigins: event.currentTarget.value })}
        error={errorOf('allowedOrigins')}
      />
    </section>
  )
}
