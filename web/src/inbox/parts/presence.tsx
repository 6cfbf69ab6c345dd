import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { sayPresence } from '../../data/inbox/actions.ts'
import { peopleKey } from '../../data/inbox/cache.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import type { Person } from '../../data/inbox/types.ts'
import { me } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import styles from '../ThreadPane.module.css'
import { openPresenceSender, type PresenceSender } from './presence-sender.ts'

const nobody: readonly Person[] = []
const senders = new Map<string, PresenceSender>()

/** What I say of myself in a conversation, for as long as it is open. */
export const presenceIn = (id: string): PresenceSender | undefined => senders.get(id)

/** Sends that I have the conversation open while I look at it, and shows who else does. */
export function usePresence(id: string): readonly Person[] {
  const inbox = useInbox()
  useEffect(() => {
    const sender = openPresenceSender((state) => sayPresence(inbox, id, state))
    senders.set(id, sender)
    const look = () => sender.look(document.visibilityState === 'visible')
    look()
    document.addEventListener('visibilitychange', look)
    return () => {
      document.removeEventListener('visibilitychange', look)
      senders.delete(id)
      sender.leave()
    }
  }, [inbox, id])
  const { data = nobody } = useQuery<readonly Person[]>({
    queryKey: peopleKey(inbox.workspaceId, id),
    queryFn: () => nobody,
    enabled: false,
  })
  return data.filter(({ userId }) => userId !== me().id)
}

const nameOf = ({ name }: Person): string => name ?? t.inbox.teammate

/** The faces of colleagues who have the conversation open. */
export function Faces({ people }: { people: readonly Person[] }) {
  if (people.length === 0) return null
  return (
    <span className={styles.present}>
      {people.map((person) => {
        const isTyping = person.state === 'typing'
        const words = isTyping ? t.inbox.people.typing(nameOf(person)) : t.inbox.people.viewing(nameOf(person))
        return (
          <span key={person.userId} role="img" aria-label={words} title={words} data-typing={isTyping || undefined}>
            <Avatar name={nameOf(person)} size={24} />
          </span>
        )
      })}
    </span>
  )
}

export function TypingLine({ people }: { people: readonly Person[] }) {
  const typing = people.filter(({ state }) => state === 'typing')
  const [first] = typing
  if (first === undefined) return null
  return (
    <p className={styles.typing} role="status">
      {typing.length > 1 ? t.inbox.people.severalTyping : t.inbox.people.typing(nameOf(first))}
    </p>
  )
}
