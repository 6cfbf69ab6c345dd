import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { sendPresence } from '../../data/inbox/actions.ts'
import { peopleKey } from '../../data/inbox/cache.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import type { Person } from '../../data/inbox/types.ts'
import { currentUser } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import styles from '../ThreadPane.module.css'
import { useIsPageVisible } from './page-visibility.ts'
import { createPresenceSender, type PresenceSender } from './presence-sender.ts'

const nobody: readonly Person[] = []
const senders = new Map<string, PresenceSender>()

/** Returns my presence sender for an open conversation. */
export const presenceSenderOf = (id: string): PresenceSender | undefined => senders.get(id)

/** Reports that I have the conversation open while it is visible, and returns who else has. */
export function usePresence(id: string): readonly Person[] {
  const inbox = useInbox()
  useEffect(() => {
    const sender = createPresenceSender((state, toCustomer) => sendPresence(inbox, id, state, toCustomer))
    senders.set(id, sender)
    return () => {
      senders.delete(id)
      sender.leave()
    }
  }, [inbox, id])
  const isVisible = useIsPageVisible()
  // biome-ignore lint/correctness/useExhaustiveDependencies: also for a new sender
  useEffect(() => senders.get(id)?.setVisible(isVisible), [inbox, id, isVisible])
  const { data = nobody } = useQuery<readonly Person[]>({
    queryKey: peopleKey(inbox.workspaceId, id),
    queryFn: () => nobody,
    enabled: false,
  })
  return data.filter(({ userId }) => userId !== currentUser().id)
}

const nameOf = ({ name }: Person): string => name ?? t.inbox.teammate
const typingText = (person: Person): string =>
  person.state === 'typing'
    ? t.inbox.people.typing({ name: nameOf(person) })
    : t.inbox.people.viewing({ name: nameOf(person) })

/** The header on phones has no space for more. */
const maxAvatars = 3

/** Avatars of colleagues who have the conversation open. */
export function PresenceAvatars({ people }: { people: readonly Person[] }) {
  if (people.length === 0) return null
  const isAll = people.length <= maxAvatars
  const shown = isAll ? people : people.slice(0, maxAvatars - 1)
  const others = people.slice(shown.length).map(typingText).join(', ')
  return (
    <span className={styles.present}>
      {shown.map((person) => (
        <span
          key={person.userId}
          role="img"
          aria-label={typingText(person)}
          title={typingText(person)}
          data-typing={person.state === 'typing' || undefined}
        >
          <Avatar name={nameOf(person)} size={24} />
        </span>
      ))}
      {!isAll && (
        <span className={styles.others} role="img" aria-label={others} title={others}>
          +{people.length - shown.length}
        </span>
      )}
    </span>
  )
}

export function TypingLine({ people }: { people: readonly Person[] }) {
  const typing = people.filter(({ state }) => state === 'typing')
  const [first] = typing
  if (first === undefined) return null
  return (
    <p className={styles.typing} role="status">
      {typing.length > 1 ? t.inbox.people.severalTyping : typingText(first)}
    </p>
  )
}
