import { ActionIcon } from '@mantine/core'
import { IconInfoCircle } from '@tabler/icons-react'
import { useState } from 'react'
import { t } from '../../text/index.ts'
import styles from './Figures.module.css'

export interface Figure {
  name: string
  value: string
  /** Whether there is no data; the value says so. */
  isEmpty?: boolean
  note: string
  /** Change from another period or subject, and whether it is an improvement. */
  change?: { words: string; isGood: boolean | null } | null
  /** Definition, shown on request. */
  help?: string
  /** Shows what the figure counts. */
  open?: () => void
}

/** Key figures in a row. */
export function Figures({ figures }: { figures: readonly Figure[] }) {
  return (
    <dl className={styles.figures}>
      {figures.map((figure) => (
        <FigureCell key={figure.name} {...figure} />
      ))}
    </dl>
  )
}

function FigureCell({ name, value, isEmpty, note, change, help, open }: Figure) {
  const [showsHelp, setShowsHelp] = useState(false)
  return (
    <div className={styles.figure}>
      <dt>
        {name}
        {help !== undefined && (
          <ActionIcon
            variant="subtle"
            color="gray"
            size="xs"
            aria-label={t.charts.definition({ name })}
            aria-expanded={showsHelp}
            onClick={() => setShowsHelp(!showsHelp)}
          >
            <IconInfoCircle size={14} />
          </ActionIcon>
        )}
      </dt>
      <dd data-nothing={isEmpty || undefined}>
        {open === undefined ? (
          value
        ) : (
          <button type="button" className={styles.open} onClick={open} aria-label={`${name}: ${value}`}>
            {value}
          </button>
        )}
      </dd>
      <dd className={styles.note}>{note}</dd>
      {change != null && (
        <dd className={styles.note} data-good={change.isGood ?? undefined}>
          {change.words}
        </dd>
      )}
      {showsHelp && <dd className={styles.help}>{help}</dd>}
    </div>
  )
}
