import { useConnections } from '../data/connections.ts'
import { useLabels } from '../data/labels.ts'
import { usePeople } from '../data/people.ts'
import { t } from '../text/index.ts'

export const groupNames = ['people', 'agents', 'connections', 'labels'] as const
export type GroupName = (typeof groupNames)[number]

/** The names of what first answers are grouped by; of what is gone that it is unknown. */
export function useGroupNames(workspaceId: string): (by: GroupName, id: string) => string {
  const people = usePeople(workspaceId)
  const { data: connections = [] } = useConnections(workspaceId)
  const { data: labels = [] } = useLabels(workspaceId)
  return (by, id) => {
    if (by === 'people' || by === 'agents') {
      const name = people.nameOf(id)
      // Whoever left is not among them, and neither are tokens of the whole installation.
      return name !== null && name !== t.common.unknown ? name : t.home.groups.gone[by]
    }
    const named: readonly { id: string; name: string }[] = by === 'connections' ? connections : labels
    return named.find((one) => one.id === id)?.name ?? t.common.unknown
  }
}
