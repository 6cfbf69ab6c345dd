import { IconX } from '@tabler/icons-react'
import { useConnections } from '../../data/connections.ts'
import { useLabelsById } from '../../data/labels.ts'
import { useMemberList } from '../../data/team/members.ts'
import { useTeamList } from '../../data/team/routing.ts'
import { t } from '../../text/index.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import type { FilterProps, InboxSearch } from './filters.ts'
import styles from './ListPane.module.css'

/** Active filters, each with a remove button. */
export default function FilterChips({ search, filterBy }: FilterProps) {
  const workspaceId = useWorkspaceId()
  const textOf = useFilterTexts(workspaceId)
  const fields = (Object.keys(search) as (keyof InboxSearch)[]).filter((field) => field !== 'view' && field !== 'sort')
  const without = (field: keyof InboxSearch) =>
    filterBy((before) => {
      const rest = { ...before }
      delete rest[field]
      return rest
    })
  return (
    <div className={styles.chips}>
      {fields.map((field) => {
        const filterText = textOf(search, field)
        return (
          <button
            key={field}
            type="button"
            className={styles.chip}
            aria-label={t.inbox.filters.remove({ what: filterText })}
            onClick={() => without(field)}
          >
            <span>{filterText}</span>
            <IconX size={14} />
          </button>
        )
      })}
    </div>
  )
}

function useFilterTexts(workspaceId: string) {
  const labels = useLabelsById(workspaceId)
  const members = useMemberList(workspaceId)
  const teams = useTeamList(workspaceId)
  const { data: connections = [] } = useConnections(workspaceId)
  const { filters, statuses } = t.inbox
  return (search: InboxSearch, field: keyof InboxSearch): string => {
    const value = String(search[field])
    switch (field) {
      case 'status':
        return statuses[search.status ?? 'open']
      case 'owner':
        return value === 'human' ? filters.people : filters.agents
      case 'assignedTo': {
        if (value === 'me') return filters.me
        if (value === 'none') return filters.nobody
        return members.find(({ userId }) => userId === value)?.name ?? t.common.unknown
      }
      case 'connectionId':
        return connections.find(({ id }) => id === value)?.name ?? t.common.unknown
      case 'teamId':
        return value === 'none' ? filters.noTeam : (teams.find(({ id }) => id === value)?.name ?? t.common.unknown)
      case 'labelId':
        return labels.get(value)?.name ?? t.common.unknown
      case 'unread':
        return filters.isUnread
      case 'unanswered':
        return filters.isUnanswered
      case 'priority':
        return filters.isPriority({ priority: t.inbox.priorities[search.priority ?? 'normal'] })
      case 'overdue':
        return filters.isOverdue
      default:
        return filters.searchFor({ term: value })
    }
  }
}
