import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ApiError } from '../../api/api-error.ts'
import { createArticleDraft } from '../../data/team/knowledge.ts'
import { t } from '../../text/index.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'

/** Returns what makes a draft of an article of a resolved conversation, and opens it. */
export function useMakeArticle(conversationId: string): () => void {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const navigate = useNavigate()
  return () =>
    void createArticleDraft(queries, workspaceId, conversationId).then(
      ({ id: draftId }) =>
        navigate({ to: '/w/$workspaceId/knowledge/drafts/$draftId', params: { workspaceId, draftId } }),
      (error) =>
        error instanceof ApiError && error.code === 'NO_TEXT' ? showToast(t.articles.noText) : showError(error),
    )
}
