import { signOut } from '../session/session.ts'
import { t } from '../text/index.ts'
import { complain } from '../ui/overlay/notices.tsx'
import { Empty } from '../ui/page/Empty.tsx'

export function NoWorkspace() {
  const { title, help } = t.common.noWorkspace
  return (
    <Empty title={title} help={help} action={{ label: t.common.signOut, run: () => void signOut().catch(complain) }} />
  )
}
