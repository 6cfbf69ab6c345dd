import { useQuery } from '@tanstack/react-query'
import { me } from '../../app/session.ts'
import { t } from '../../text/index.ts'
import { peopleKey } from '../cache.ts'
import type { Person } from '../types.ts'
import styles from './OwnerBar.module.css'

/** Who else has this conversation open, and who of them writes. */
export function PeopleHere({ workspaceId, conversationId }: { workspaceId: string; conversationId: string }) {
  const { data: people = [] } = useQuery<Person[]>({
    queryKey: peopleKey(workspaceId, conversationId),
    queryFn: () => [],
    enabled: false,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const others = people.filter(({ userId }) => userId !== me().id)
  if (others.length === 0) return null
  const typing = others.filter(({ state }) => state === 'typing')
  const words = typing.length > 0 ? t.compose.typing(names(typing)) : t.compose.viewing(names(others))
  return (
    <span className={styles.here} role="status">
      {words}
    </span>
  )
}

const names = (people: readonly Person[]): string => people.map(({ name }) => name ?? t.common.unknown).join(', ')
