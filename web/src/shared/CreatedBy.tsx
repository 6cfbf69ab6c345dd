import { usePeopleLists } from '../data/people.ts'
import { t } from '../text/index.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

/** Person responsible for a key, token, invitation or webhook. */
export function CreatedBy({ id }: { id: string | null }) {
  const workspaceId = useWorkspaceId()
  const { data: people } = usePeopleLists(workspaceId)
  if (id === null) return t.settings.nobody
  if (people === undefined) return ''
  return people.members.find((member) => member.id === id)?.name ?? t.settings.audit.former
}
