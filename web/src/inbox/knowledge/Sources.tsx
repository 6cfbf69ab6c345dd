import { IconBook } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { t } from '../../text/index.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './Sources.module.css'

interface SourcesProps {
  sources: readonly { id: string; version: number; title: string }[]
}

/** Articles that an agent says it used; each opens as it was then. */
export default function Sources({ sources }: SourcesProps) {
  const workspaceId = useWorkspaceId()
  return (
    <p className={styles.sources}>
      <IconBook size={14} aria-hidden="true" />
      <span>{t.articles.sources}</span>
      {sources.map(({ id, version, title }) => (
        <Link
          key={`${id} ${version}`}
          to="/w/$workspaceId/knowledge/$articleId"
          params={{ workspaceId, articleId: id }}
          search={{ version }}
          dir="auto"
        >
          {title}
        </Link>
      ))}
    </p>
  )
}
