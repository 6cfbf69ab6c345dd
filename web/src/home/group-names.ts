import { useConnections } from '../data/connections.ts'
import { useLabels } from '../data/labels.ts'
import { usePeople } from '../data/people.ts'
import { t } from '../text/index.ts'

export const groupNames = ['people', 'agents', 'connections', 'labels'] as const
export type GroupName = (typeof groupNames)[number]

/** Returns the names for groups of first responses; a placeholder for deleted ones. */
export function useGroupNames(workspaceId: string): (by: GroupName, id: string) => string {
  const people = usePeople(workspaceId)
  const { data: connections = [] } = useConnections(workspaceId)
  const { data: labels = [] } = useLabels(workspaceId)
  return (by, id) => {
    if (by === 'people' || by === 'agents') {
      const name = people.nameOf(id)
      // Former members and tokens of the whole installation are not included.
      return name !== null && name !== t.common.unknown ? name : t.home.groups.gone[by]
    }
    const named: readonly { id: string; name: string }[] = by === 'connections' ? connections : labels
    return named.find((one) => one.id === id)?.name ?? t.common.unknown
  }
}
