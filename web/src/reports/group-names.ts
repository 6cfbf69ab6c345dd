import { useConnections } from '../data/connections.ts'
import { useLabels } from '../data/labels.ts'
import { usePeople } from '../data/people.ts'
import type { Dimension } from '../data/team/reports.ts'
import { useTeamList } from '../data/team/routing.ts'
import { t } from '../text/index.ts'

/** Returns the names of values of dimensions; a placeholder for deleted ones. */
export function useGroupNames(workspaceId: string): (by: Dimension, id: string) => string {
  const people = usePeople(workspaceId)
  const teams = useTeamList(workspaceId)
  const { data: connections = [] } = useConnections(workspaceId)
  const { data: labels = [] } = useLabels(workspaceId)
  const named: Partial<Record<Dimension, readonly { id: string; name: string }[]>> = {
    connection: connections,
    team: teams,
    label: labels,
  }
  return (by, id) => {
    // Its name comes with the numbers.
    if (by === 'campaign') return '…'
    if (by === 'source') return (t.lead.sources as Record<string, string>)[id] ?? id
    if (by === 'person' || by === 'key') return people.nameOf(id) ?? t.common.unknown
    return named[by]?.find((one) => one.id === id)?.name ?? t.reports.deleted
  }
}
