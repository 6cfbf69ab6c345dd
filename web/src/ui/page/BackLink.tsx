import { IconArrowLeft } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { t } from '../../text/index.ts'
import { Tip } from '../overlay/Tip.tsx'
import { useWorkspaceId } from '../use-workspace-id.ts'
import styles from './BackLink.module.css'

/** Link back to the list. */
export function BackLink({ path, label }: { path: string; label: string }) {
  const workspaceId = useWorkspaceId()
  return (
    <Tip label={label}>
      <Link
        to={`/w/$workspaceId/${path}` as '/w/$workspaceId/home'}
        params={{ workspaceId }}
        className={styles.link}
        aria-label={`${t.common.back}: ${label}`}
      >
        <IconArrowLeft size={18} />
      </Link>
    </Tip>
  )
}
