import { useNavigate } from '@tanstack/react-router'
import { t } from '../../text/index.ts'
import { EmptyState } from './EmptyState.tsx'

/** Page for unknown addresses, with a link to the start page. */
export function NotFoundPage() {
  const navigate = useNavigate()
  const { title, home } = t.common.notFound
  return <EmptyState isPage title={title} action={{ label: home, run: () => void navigate({ to: '/' }) }} />
}
