import { signOut } from '../session/session.ts'
import { t } from '../text/index.ts'
import { Empty } from '../ui/Empty.tsx'
import { complain } from '../ui/notices.tsx'

export function NoWorkspace() {
  const { title, help } = t.common.noWorkspace
  return (
    <Empty title={title} help={help} action={{ label: t.common.signOut, run: () => void signOut().catch(complain) }} />
  )
}
