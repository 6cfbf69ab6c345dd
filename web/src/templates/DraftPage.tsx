import { Button, Group, Menu } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import { useTemplates } from '../data/connections.ts'
import { deleteDraft, submitDraft, type TemplateDraft, useTemplateDraft } from '../data/team/templates.ts'
import { t } from '../text/index.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { BackLink } from '../ui/page/BackLink.tsx'
import { MoreMenu } from '../ui/page/MoreMenu.tsx'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { useShortcut } from '../ui/shortcuts.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { shownCode } from './code-texts.ts'
import { fillVariables, sampleOf } from './draft-content.ts'
import styles from './Editor.module.css'
import { Editor } from './Editor.tsx'
import { refusalOf } from './editor-parts.tsx'
import { PhonePreview, type ShownTemplate } from './PhonePreview.tsx'
import { Review } from './Review.tsx'
import { type DraftEditor, useDraftEditor } from './use-draft-editor.ts'

/** Page of a template that is being written: editor and preview. */
export function DraftPage() {
  const workspaceId = useWorkspaceId()
  const { draftId = '' } = useParams({ strict: false })
  const query = useTemplateDraft(workspaceId, draftId)
  if (query.data !== undefined) return <Studio key={draftId} opened={query.data} />
  return (
    <>
      <PageHeader title={t.templates.title} before={<BackLink path="templates" label={t.templates.title} />} />
      <QueryBoundary query={query}>{() => null}</QueryBoundary>
    </>
  )
}

function Studio({ opened }: { opened: TemplateDraft }) {
  const workspaceId = useWorkspaceId()
  const editor = useDraftEditor(workspaceId, opened)
  const [isTried, setTried] = useState(opened.isTried)
  const [isRemoving, setRemoving] = useState(false)
  const form = useRef<HTMLDivElement>(null)
  const submit = useSubmit(editor, () => {
    setTried(true)
    // After the errors are shown.
    setTimeout(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(), 0)
  })
  const { content, draft, state } = editor
  const texts = t.templates.editor
  const { mutate, isPending } = submit
  const run = () => isPending || mutate()
  useShortcut(t.templates.title, { keys: 'mod+Enter', label: texts.submit, run, inFields: true })
  return (
    <>
      <PageHeader
        title={content.name || t.templates.unnamed}
        before={<BackLink path="templates" label={t.templates.title} />}
        action={
          <Group gap="xs" wrap="nowrap">
            <Button onClick={() => mutate()} loading={isPending} disabled={state === 'conflict'}>
              {texts.submit}
            </Button>
            <MoreMenu>
              <Menu.Item leftSection={<IconTrash size={16} />} onClick={() => setRemoving(true)}>
                {texts.remove}
              </Menu.Item>
            </MoreMenu>
          </Group>
        }
      />
      <div className={styles.studio}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be scrollable by keyboard */}
        <div ref={form} className={styles.editor} tabIndex={0}>
          <p className={styles.state} data-bad={state === 'failed' || state === 'conflict' || undefined} role="status">
            {texts.states[state]}
          </p>
          <ChangedTemplate draft={draft} />
          {state === 'conflict' && <Conflict />}
          {draft.isTried && <p className={styles.notice}>{texts.lostAnswer}</p>}
          {submit.error !== null && !hasIssues(submit.error) && <Refusal error={submit.error} />}
          <Editor editor={editor} isTried={isTried} />
        </div>
        <div className={styles.side}>
          <PhonePreview shown={shownOf(editor)} />
        </div>
      </div>
      {isRemoving && <RemoveDialog draft={draft} close={() => setRemoving(false)} />}
    </>
  )
}

function shownOf({ content }: DraftEditor): ShownTemplate {
  if (content.category === 'AUTHENTICATION') return shownCode(content)
  const { header, body, footer, buttons } = content
  return {
    header: { type: header.type, text: fillVariables(header.text, () => header.sample) },
    body: fillVariables(body, (name) => sampleOf(content, name)),
    footer,
    buttons,
  }
}

const hasIssues = (error: unknown): boolean => error instanceof ApiError && error.issues.size > 0

/** Saves and submits. `onProblems` is called if the platform would refuse it: nothing is submitted then. */
function useSubmit({ flush }: DraftEditor, onProblems: () => void) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: async () => {
      const saved = await flush()
      if (saved.problems.some(({ isWarning }) => !isWarning)) return 'problems'
      await submitDraft(queries, workspaceId, saved)
      return 'submitted'
    },
    onSuccess: async (result) => {
      if (result === 'problems') return onProblems()
      showToast(t.templates.submitted)
      await navigate({ to: '/w/$workspaceId/templates', params: { workspaceId } })
    },
    onError: (error) => {
      if (hasIssues(error)) onProblems()
    },
  })
}

/** The review of the template that a draft changes. */
function ChangedTemplate({ draft: { connectionId, templateId } }: { draft: TemplateDraft }) {
  const { data = [] } = useTemplates(useWorkspaceId(), connectionId)
  const template = data.find(({ id }) => id === templateId)
  return template === undefined ? null : <Review template={template} />
}

/** Why the platform did not take it, in its own words. */
function Refusal({ error }: { error: unknown }) {
  const { text, quote } = refusalOf(error)
  return (
    <div className={styles.refusal} role="alert">
      <p className={styles.refusal}>{text}</p>
      {quote !== null && (
        <p className={styles.refusal} dir="auto">
          {quote}
        </p>
      )}
    </div>
  )
}

function Conflict() {
  return (
    <div className={styles.notice} role="alert">
      <p>{t.templates.editor.conflict}</p>
      <Button size="compact-sm" variant="default" onClick={() => window.location.reload()}>
        {t.templates.editor.reload}
      </Button>
    </div>
  )
}

function RemoveDialog({ draft, close }: { draft: TemplateDraft; close(): void }) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const texts = t.templates.editor
  const run = () =>
    deleteDraft(queries, workspaceId, draft.id).then(
      () => navigate({ to: '/w/$workspaceId/templates', params: { workspaceId } }),
      showError,
    )
  return (
    <Confirm title={texts.removeConfirm} action={texts.remove} run={run} close={close}>
      {texts.removeHelp}
    </Confirm>
  )
}
