import { useState } from 'react'
import type { Reaction } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { Dropped, dropButton, useDrop } from '../../ui/overlay/drop.tsx'
import { later } from '../../ui/overlay/later.ts'
import { useInThread } from '../parts/in-thread.ts'
import styles from './parts.module.css'

const ReactionList = later(() => import('./ReactionList.tsx'))

/** What both sides felt about a message, at the edge of its bubble; by a click, who. */
export function Reactions({ reactions }: { reactions: readonly Reaction[] }) {
  const { customerName } = useInThread()
  const [isOpen, setOpen] = useState(false)
  const drop = useDrop(isOpen, setOpen)
  const emojis = [...new Set(reactions.map(({ emoji }) => emoji))]
  const list = reactions
    .map(({ emoji, direction }) => `${emoji} ${direction === 'inbound' ? customerName : t.media.us}`)
    .join(', ')
  return (
    <>
      <button
        type="button"
        className={styles.reactions}
        aria-label={t.media.reactions({ list })}
        {...dropButton(drop, 'dialog')}
      >
        <span aria-hidden="true">{emojis.join(' ')}</span>
        {reactions.length > 1 && <span className={styles.reactionCount}>{reactions.length}</span>}
      </button>
      <Dropped drop={drop}>
        <ReactionList drop={drop} reactions={reactions} />
      </Dropped>
    </>
  )
}
