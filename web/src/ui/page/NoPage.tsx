import { useNavigate } from '@tanstack/react-router'
import { t } from '../../text/index.ts'
import { Empty } from './Empty.tsx'

/** An address that leads nowhere, with the way back to where all begins. */
export function NoPage() {
  const navigate = useNavigate()
  const { title, home } = t.common.noPage
  return <Empty isPage title={title} action={{ label: home, run: () => void navigate({ to: '/' }) }} />
}
