import { type ArticleVersionHead, useArticleVersion } from '../data/team/knowledge.ts'
import { diffWords } from '../shared/diff-words.ts'
import { TextDiff } from '../shared/TextDiff.tsx'
import { t } from '../text/index.ts'
import { formatDateTime, timeAgo } from '../ui/format/time.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Knowledge.module.css'

/** Articles are long: beyond this many different words and spaces, the middle is shown as replaced. */
const maxPieces = 1500

interface VersionsProps {
  articleId: string
  versions: readonly ArticleVersionHead[]
  /** The one that is compared with the one before it; null for none. */
  shown: number | null
  show(version: number | null): void
}

/** Versions of an article; one of them with what it changed. */
export function Versions({ articleId, versions, shown, show }: VersionsProps) {
  const texts = t.knowledge.versions
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

function Changes({
  articleId,
  version,
  versions,
}: Pick<VersionsProps, 'articleId' | 'versions'> & { version: number }) {
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
