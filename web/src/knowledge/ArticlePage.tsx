import { ActionIcon, Button, Group, Menu } from '@mantine/core'
import { IconArchive, IconDots, IconPencil, IconTrash } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import {
  type Article,
  type ArticleInput,
  type ArticleVersionHead,
  changeArticle,
  createArticle,
  deleteArticle,
  useArticle,
  useArticleVersion,
} from '../data/team/knowledge.ts'
import { hasRole } from '../session/session.ts'
import { diffWords } from '../shared/diff-words.ts'
import { LeaveDialog } from '../shared/LeaveDialog.tsx'
import { Markdown } from '../shared/markdown/Markdown.tsx'
import { TextDiff } from '../shared/TextDiff.tsx'
import { t } from '../text/index.ts'
import { formatDateTime, timeAgo } from '../ui/format/time.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { BackLink } from '../ui/page/BackLink.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { useShortcuts } from '../ui/shortcuts.ts'
import { useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { ArticleForm } from './ArticleForm.tsx'
import { LoadingPage, newArticle, StatusChip } from './article-parts.tsx'
import styles from './Knowledge.module.css'

/** Page of an article: its fields, a preview and its versions; `new` for one that is not saved yet. */
export function ArticlePage() {
  const workspaceId = useWorkspaceId()
  const { articleId = '' } = useParams({ strict: false })
  const isNew = articleId === 'new'
  const query = useArticle(workspaceId, articleId, !isNew)
  if (isNew) return <Editor key="new" saved={null} versions={[]} />
  if (query.data !== undefined) {
    return <Editor key={articleId} saved={query.data.article} versions={query.data.versions} />
  }
  return <LoadingPage query={query} />
}

function inputOf({ kind, language, title, body, tags, keyIds, validFrom, validUntil }: Article): ArticleInput {
  return { kind, language, title, body, tags, keyIds, validFrom, validUntil }
}

function Editor({ saved, versions }: { saved: Article | null; versions: readonly ArticleVersionHead[] }) {
  const workspaceId = useWorkspaceId()
  const texts = t.knowledge
  const mayPublish = hasRole(workspaceId, 'admin')
  const mayEdit = mayPublish || saved === null || saved.status === 'draft'
  const draft = useDraft(saved === null ? newArticle() : inputOf(saved))
  const { save, isBusy, hasConflict } = useSave(draft, saved)
  const isPublished = saved?.status === 'published'
  useShortcuts(
    texts.title,
    useMemo(
      () => [{ keys: 'mod+Enter', label: t.common.save, run: () => !isBusy && mayEdit && save(), inFields: true }],
      [isBusy, mayEdit, save],
    ),
  )
  return (
    <>
      <PageHeader
        title={draft.value.title || texts.untitled}
        before={<BackLink path="knowledge" label={texts.title} />}
        action={
          mayEdit && (
            <Group gap="xs" wrap="nowrap">
              <Button
                variant={mayPublish && !isPublished ? 'default' : 'filled'}
                loading={isBusy}
                disabled={!draft.isChanged && saved !== null}
                onClick={() => save()}
              >
                {t.common.save}
              </Button>
              {mayPublish && !isPublished && (
                <Button loading={isBusy} onClick={() => save('published')}>
                  {texts.publish}
                </Button>
              )}
              {saved !== null && mayPublish && <MoreMenu article={saved} move={save} />}
            </Group>
          )
        }
      />
      <div className={styles.editor}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be scrollable by keyboard */}
        <div className={styles.fields} tabIndex={0}>
          {saved !== null && <Facts article={saved} />}
          {hasConflict && <Conflict />}
          {!mayEdit && <p className={styles.notice}>{texts.readOnly}</p>}
          {mayEdit && <ArticleForm draft={draft} isFocused={saved === null} />}
        </div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be scrollable by keyboard */}
        <div className={styles.side} tabIndex={0}>
          <section aria-label={texts.preview}>
            <h2 dir="auto">{draft.value.title || texts.untitled}</h2>
            <Markdown text={draft.value.body} />
          </section>
          {saved !== null && <Versions articleId={saved.id} versions={versions} />}
        </div>
      </div>
      <LeaveDialog isChanged={draft.isChanged && mayEdit} help={t.forms.leaveHelp} shouldStay={() => false} />
    </>
  )
}

/** Returns how the form is saved; with a status, the article also moves to it. */
function useSave(draft: ReturnType<typeof useDraft<ArticleInput>>, saved: Article | null) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [hasConflict, setConflict] = useState(false)
  const newest = useRef({ draft, saved })
  newest.current = { draft, saved }
  const { mutate, isPending } = useMutation({
    mutationFn: async (status: Article['status'] | undefined) => {
      const { draft: form, saved: before } = newest.current
      if (before === null) return createArticle(queries, workspaceId, { ...form.value, status: status ?? 'draft' })
      const move = status === undefined ? {} : { status }
      return changeArticle(queries, workspaceId, before.id, { ...form.value, ...move, version: before.version })
    },
    onSuccess: (article, status) => {
      const { draft: form, saved: before } = newest.current
      form.reset(inputOf(article))
      showToast(status === 'published' ? t.knowledge.published : t.knowledge.saved)
      if (before !== null) return
      const params = { workspaceId, articleId: article.id }
      void navigate({ to: '/w/$workspaceId/knowledge/$articleId', params, replace: true, ignoreBlocker: true })
    },
    onError: (error) => {
      if (error instanceof ApiError && error.status === 409 && 'version' in error.data) setConflict(true)
      else if (!newest.current.draft.applyError(error)) showError(error)
    },
  })
  const save = useMemo(() => (status?: Article['status']) => mutate(status), [mutate])
  return { save, isBusy: isPending, hasConflict }
}

function Facts({ article }: { article: Article }) {
  const { sources } = t.knowledge
  const { source, sourceAddress, updatedAt } = article
  return (
    <div className={styles.facts}>
      <StatusChip article={article} />
      <span>{t.knowledge.changedAt({ moment: formatDateTime(updatedAt) })}</span>
      <span>{sourceAddress === null ? sources[source] : `${sources[source]}: ${sourceAddress}`}</span>
    </div>
  )
}

function Conflict() {
  return (
    <div className={styles.notice} role="alert">
      <p>{t.knowledge.conflict}</p>
      <Button size="compact-sm" variant="default" onClick={() => window.location.reload()}>
        {t.templates.editor.reload}
      </Button>
    </div>
  )
}

function MoreMenu({ article, move }: { article: Article; move(status: Article['status']): void }) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const texts = t.knowledge
  const [isRemoving, setRemoving] = useState(false)
  const remove = () =>
    deleteArticle(queries, workspaceId, article.id).then(
      () => navigate({ to: '/w/$workspaceId/knowledge', params: { workspaceId }, ignoreBlocker: true }),
      showError,
    )
  return (
    <>
      <Menu position="bottom-end" width={220}>
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={t.common.more}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {article.status !== 'draft' && (
            <Menu.Item leftSection={<IconPencil size={16} />} onClick={() => move('draft')}>
              {texts.unpublish}
            </Menu.Item>
          )}
          {article.status !== 'archived' && (
            <Menu.Item leftSection={<IconArchive size={16} />} onClick={() => move('archived')}>
              {texts.archive}
            </Menu.Item>
          )}
          <Menu.Item leftSection={<IconTrash size={16} />} onClick={() => setRemoving(true)}>
            {texts.remove}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isRemoving && (
        <Confirm title={texts.removeConfirm} action={texts.remove} run={remove} close={() => setRemoving(false)}>
          {texts.removeHelp}
        </Confirm>
      )}
    </>
  )
}

/** Articles are long: beyond this many different words and spaces, the middle is shown as replaced. */
const maxPieces = 1500

interface VersionsProps {
  articleId: string
  versions: readonly ArticleVersionHead[]
}

/** Versions of an article; one of them, which the address may name, with what it changed. */
function Versions({ articleId, versions }: VersionsProps) {
  const texts = t.knowledge.versions
  const { version: addressed = null } = useSearch({ strict: false }) as { version?: number }
  const [shown, show] = useState(addressed)
  return (
    <section aria-label={texts.title}>
      <h2>{texts.title}</h2>
      <ul className={styles.versions}>
        {versions.map(({ version, createdAt }) => (
          <li key={version}>
            <button
              type="button"
              className={styles.version}
              aria-pressed={version === shown}
              onClick={() => show(version === shown ? null : version)}
            >
              {texts.one({ version })}
              <time title={formatDateTime(createdAt)}>{timeAgo(createdAt)}</time>
            </button>
            {version === shown && <Changes articleId={articleId} version={version} versions={versions} />}
          </li>
        ))}
      </ul>
    </section>
  )
}

function Changes({ articleId, version, versions }: VersionsProps & { version: number }) {
  const workspaceId = useWorkspaceId()
  const hasOlder = versions.some((one) => one.version === version - 1)
  const { data: after } = useArticleVersion(workspaceId, articleId, version)
  const { data: before } = useArticleVersion(workspaceId, articleId, hasOlder ? version - 1 : null)
  if (after === undefined || (hasOlder && before === undefined)) return null
  const whole = (one: { title: string; body: string }) => `${one.title}\n\n${one.body}`
  const pieces =
    before === undefined
      ? [{ kind: 'same' as const, text: whole(after) }]
      : diffWords(whole(before), whole(after), maxPieces)
  return (
    <p className={styles.diff} dir="auto">
      <TextDiff pieces={pieces} />
    </p>
  )
}
