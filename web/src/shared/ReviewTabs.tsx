import { Link } from '@tanstack/react-router'
import { hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './ReviewTabs.module.css'

const tabs = [
  { to: '/w/$workspaceId/review', name: 'queue', role: 'member' },
  { to: '/w/$workspaceId/review/numbers', name: 'numbers', role: 'admin' },
  { to: '/w/$workspaceId/review/results', name: 'results', role: 'admin' },
  { to: '/w/$workspaceId/review/settings', name: 'settings', role: 'admin' },
] as const

/** Links between the pages about agents' conversations. */
export function ReviewTabs() {
  const workspaceId = useWorkspaceId()
  return (
    <nav className={styles.tabs} aria-label={t.common.pages.review}>
      {tabs
        .filter(({ role }) => hasRole(workspaceId, role))
        .map(({ to, name }) => (
          <Link
            key={name}
            to={to}
            params={{ workspaceId }}
            className={styles.tab}
            activeOptions={{ exact: true, includeSearch: false }}
            activeProps={{ 'aria-current': 'page' }}
          >
            {t.review.tabs[name]}
          </Link>
        ))}
    </nav>
  )
}
