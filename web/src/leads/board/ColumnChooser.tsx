import { type RefObject, useEffect, useState } from 'react'
import type { BoardHead } from '../../data/leads.ts'
import { t } from '../../text/index.ts'
import { statusName } from '../../ui/format/lead-texts.ts'
import { formatNumber } from '../../ui/format/time.ts'
import styles from './Board.module.css'

interface ColumnChooserProps {
  heads: readonly BoardHead[]
  board: RefObject<HTMLElement | null>
}

/** Column names, for phones, which show one column at a time. */
export function ColumnChooser({ heads, board }: ColumnChooserProps) {
  const at = useVisibleColumn(board)
  return (
    <nav className={styles.chooser} aria-label={t.leads.fields.status}>
      {heads.map(({ status, count }, n) => (
        <button
          key={status}
          type="button"
          aria-current={n === at}
          ref={n === at ? scrollHere : undefined}
          onClick={() =>
            columnsOf(board)[n]?.scrollIntoView({ inline: 'center', block: 'nearest', behavior: 'smooth' })
          }
        >
          {statusName(status)} <span>{formatNumber(count)}</span>
        </button>
      ))}
    </nav>
  )
}

const columnsOf = (board: RefObject<HTMLElement | null>) => [...(board.current?.children ?? [])] as HTMLElement[]
const scrollHere = (button: HTMLElement | null) => button?.scrollIntoView({ inline: 'center', block: 'nearest' })

/** Returns the index of the column closest to the center of the board. */
function useVisibleColumn(board: RefObject<HTMLElement | null>): number {
  const [at, setAt] = useState(0)
  useEffect(() => {
    const box = board.current
    if (box === null) return
    const updateColumn = () => {
      const middle = box.scrollLeft + box.clientWidth / 2
      const away = columnsOf(board).map(({ offsetLeft, offsetWidth }) =>
        Math.abs(offsetLeft + offsetWidth / 2 - middle),
      )
      setAt(Math.max(0, away.indexOf(Math.min(...away))))
    }
    updateColumn()
    box.addEventListener('scroll', updateColumn, { passive: true })
    return () => box.removeEventListener('scroll', updateColumn)
  }, [board])
  return at
}
