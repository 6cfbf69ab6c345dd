import type { Draft } from '../ui/use-draft.ts'
import styles from './Builder.module.css'
import type { FormDraft } from './draft.ts'
import { FieldList } from './FieldList.tsx'
import { Preview } from './Preview.tsx'
import { SettingFields } from './SettingFields.tsx'
import { TextFields } from './TextFields.tsx'

/** What a form is made of, beside how the public would see it. */
export function Builder({ workspaceId, draft }: { workspaceId: string; draft: Draft<FormDraft> }) {
  return (
    <div className={styles.builder}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must scroll by keyboard */}
      <div className={styles.editor} tabIndex={0}>
        <FieldList draft={draft} />
        <TextFields draft={draft} />
        <SettingFields workspaceId={workspaceId} draft={draft} />
      </div>
      <Preview workspaceId={workspaceId} draft={draft.value} />
    </div>
  )
}
