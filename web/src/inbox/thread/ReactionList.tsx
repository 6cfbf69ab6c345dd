import { useKnownThread } from '../../data/inbox/queries.ts'
import type { Reaction } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { fullMoment } from '../../ui/format/time.ts'
import { DropPanel } from '../../ui/overlay/DropPanel.tsx'
import type { Drop } from '../../ui/overlay/drop.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { useInThread } from '../parts/in-thread.ts'
import { captionOf } from '../parts/words.ts'
import styles from './parts.module.css'

export default function ReactionList({ drop, reactions }: { drop: Drop; reactions: readonly Reaction[] }) {
  const workspaceId = useWorkspaceId()
  const { conversationId, customerName } = useInThread()
  const thread = useKnownThread(workspaceId, conversationId)
  const whoOf = ({ id, direction }: Reaction): string => {
    if (direction === 'inbound') return customerName
    // Who of us it was, the row of the reaction tells, if it has been read.
    const author = thread?.items.find((item) => item.id === id)?.message?.author
    return (author && captionOf(author)) ?? t.media.us
  }
  return (
    <DropPanel drop={drop} label={t.media.reactedBy} position="top">
      <ul className={styles.list}>
        {reactions.map((one) => (
          <li key={one.id}>
            <span className={styles.emoji}>{one.emoji}</span>
            <bdi>{whoOf(one)}</bdi>
            <time className={styles.quiet}>{fullMoment(one.at)}</time>
          </li>
        ))}
      </ul>
    </DropPanel>
  )
}
