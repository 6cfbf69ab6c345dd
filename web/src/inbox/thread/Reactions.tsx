import { useState } from 'react'
import type { Reaction } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { DropdownContent, dropdownButtonProps, useDropdown } from '../../ui/overlay/dropdown.tsx'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { useThreadContext } from '../parts/thread-context.ts'
import styles from './parts.module.css'

const ReactionList = prefetchedComponent(() => import('./ReactionList.tsx'))

/** Reactions to a message, at the edge of its bubble; a click shows whose. */
export function Reactions({ reactions }: { reactions: readonly Reaction[] }) {
  const { customerName } = useThreadContext()
  const [isOpen, setOpen] = useState(false)
  const dropdown = useDropdown(isOpen, setOpen)
  const emojis = [...new Set(reactions.map(({ emoji }) => emoji))]
  const list = reactions
    .map(({ emoji, direction }) => `${emoji} ${direction === 'inbound' ? customerName : t.media.ourTeam}`)
    .join(', ')
  return (
    <>
      <button
        type="button"
        className={styles.reactions}
        aria-label={t.media.reactions({ list })}
        {...dropdownButtonProps(dropdown, 'dialog')}
      >
        <span aria-hidden="true">{emojis.join(' ')}</span>
        {reactions.length > 1 && <span className={styles.reactionCount}>{reactions.length}</span>}
      </button>
      <DropdownContent dropdown={dropdown}>
        <ReactionList dropdown={dropdown} reactions={reactions} />
      </DropdownContent>
    </>
  )
}
