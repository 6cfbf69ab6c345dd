import { Button, Group } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import {
  type ArticleDraft,
  discardArticleDraft,
  publishArticleDraft,
  useArticleDraft,
  useConversationText,
} from '../data/team/knowledge.ts'
import { hasRole } from '../session/session.ts'
import { LeaveDialog } from '../shared/LeaveDialog.tsx'
import { t } from '../text/index.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { BackLink } from '../ui/page/BackLink.tsx'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { ArticleForm } from './ArticleForm.tsx'
import { LoadingPage, newArticle } from './article-parts.tsx'
import styles from './Knowledge.module.css'

/** Page of an article that is made of a conversation: a person rewrites it beside the conversation and publishes it. */
export function ArticleDraftPage() {
  const workspaceId = useWorkspaceId()
  const { draftId = '' } = useParams({ strict: false })
  const query = useArticleDraft(workspaceId, draftId)
  if (query.data !== undefined) return <Review key={draftId} draft={query.data} />
  return <LoadingPage query={query} />
}

function Review({ draft: made }: { draft: ArticleDraft }) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const texts = t.knowledge.drafts
  const draft = useDraft(newArticle(made))
  const [isDiscarding, setDiscarding] = useState(false)
  const backToList = () =>
    void navigate({ to: '/w/$workspaceId/knowledge', params: { workspaceId }, ignoreBlocker: true })
  const publish = useMutation({
    mutationFn: () => publishArticleDraft(queries, workspaceId, made.id, draft.value),
    onSuccess: () => {
      showToast(t.knowledge.published)
      backToList()
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  const discard = () => discardArticleDraft(queries, workspaceId, made.id).then(backToList, showError)
  return (
    <>
      <PageHeader
        title={draft.value.title || t.knowledge.untitled}
        before={<BackLink path="knowledge" label={t.knowledge.title} />}
        action={
          <Group gap="xs" wrap="nowrap">
            <Button variant="default" onClick={() => setDiscarding(true)}>
              {texts.discard}
            </Button>
            {hasRole(workspaceId, 'admin') && (
              <Button loading={publish.isPending} onClick={() => publish.mutate()}>
                {t.knowledge.publish}
              </Button>
            )}
          </Group>
        }
      />
      <div className={styles.editor}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be scrollable by keyboard */}
        <div className={styles.fields} tabIndex={0}>
          <p className={styles.notice}>{texts.help}</p>
          <ArticleForm draft={draft} />
        </div>
        <Conversation id={made.conversationId} />
      </div>
      {isDiscarding && (
        <Confirm title={texts.discardConfirm} action={texts.discard} run={discard} close={() => setDiscarding(false)}>
          {texts.discardHelp}
        </Confirm>
      )}
      <LeaveDialog isChanged={draft.isChanged} help={t.forms.leaveHelp} shouldStay={() => false} />
    </>
  )
}

function Conversation({ id }: { id: string }) {
  const query = useConversationText(useWorkspaceId(), id)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be scrollable by keyboard
    <section className={styles.side} tabIndex={0} aria-label={t.knowledge.drafts.conversation}>
      <h2>{t.knowledge.drafts.conversation}</h2>
      <QueryBoundary query={query}>
        {(messages) => (
          <ul className={styles.messages}>
            {messages.map((message) => (
              <li
                key={message.id}
                className={styles.message}
                data-ours={message.direction === 'outbound' || undefined}
                dir="auto"
              >
                {message.text}
              </li>
            ))}
          </ul>
        )}
      </QueryBoundary>
    </section>
  )
}
