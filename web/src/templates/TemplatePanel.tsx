import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type DraftStart, deleteTemplate, type ListedTemplate } from '../data/team/templates.ts'
import { hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { languageName } from '../ui/format/language-name.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { SidePanel } from '../ui/page/SidePanel.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { PhonePreview } from './PhonePreview.tsx'
import { Review } from './Review.tsx'
import styles from './TemplatesPage.module.css'
import { categoryText, QualityChip, StatusChip } from './template-chips.tsx'

interface TemplatePanelProps {
  template: ListedTemplate
  /** Whether it can be changed here, by admins. */
  isWritable: boolean
  begin(start: DraftStart): void
  close(): void
}

/** A template with its review, and what can be done with it. */
export function TemplatePanel({ template, isWritable, begin, close }: TemplatePanelProps) {
  const workspaceId = useWorkspaceId()
  const [isRemoving, setRemoving] = useState(false)
  const texts = t.templates
  const { id: templateId, connectionId, name, language, category, status, quality, parts, editProblem } = template
  const mayWrite = isWritable && hasRole(workspaceId, 'admin')
  return (
    <SidePanel
      title={name}
      close={close}
      footer={
        mayWrite && (
          <>
            <Button variant="default" onClick={() => setRemoving(true)}>
              {texts.remove}
            </Button>
            <Button
              variant="default"
              disabled={editProblem === 'foreign'}
              onClick={() => begin({ connectionId, templateId, isCopy: true })}
            >
              {texts.duplicate}
            </Button>
            <Button disabled={editProblem !== null} onClick={() => begin({ connectionId, templateId })}>
              {texts.edit}
            </Button>
          </>
        )
      }
    >
      <div className={styles.facts}>
        <StatusChip status={status} />
        <span>{languageName(language)}</span>
        <span>{categoryText(category)}</span>
        <QualityChip quality={quality} />
      </div>
      <Review template={template} />
      {mayWrite && editProblem !== null && <p className={styles.muted}>{texts.editProblems[editProblem]}</p>}
      <PhonePreview
        shown={{
          header: parts?.header ?? { type: 'none', text: '' },
          body: template.body,
          footer: parts?.footer ?? '',
          buttons: parts?.buttons ?? [],
        }}
      />
      {isRemoving && <RemoveDialog template={template} close={() => setRemoving(false)} done={close} />}
    </SidePanel>
  )
}

interface RemoveDialogProps {
  template: ListedTemplate
  close(): void
  done(): void
}

function RemoveDialog({ template, close, done }: RemoveDialogProps) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const texts = t.templates
  const remove = () =>
    deleteTemplate(queries, workspaceId, template).then(() => {
      showToast(texts.removed({ name: template.name }))
      done()
    }, showError)
  return (
    <Confirm
      title={texts.removeConfirm({ name: template.name, language: languageName(template.language) })}
      action={texts.remove}
      confirmText={template.name}
      run={remove}
      close={close}
    >
      {texts.removeHelp}
    </Confirm>
  )
}
