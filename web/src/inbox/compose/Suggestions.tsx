import { Link } from '@tanstack/react-router'
import styles from './Suggestions.module.css'

export interface Suggestion {
  id: string
  title: string
  detail: string
  /** Replaces the typed word. */
  insertText: string
}

interface SuggestionsProps {
  id: string
  label: string
  /** Shown if nothing matches. */
  empty: string
  /** Where to create one. */
  create: { label: string; to: string } | undefined
  options: readonly Suggestion[]
  chosen: number
  choose(n: number): void
  highlight(n: number): void
}

export const optionId = (listId: string, n: number): string => `${listId}-${n}`

/** Suggestions above the field for a word after `/` or `@`. The field keeps the focus. */
export function Suggestions({ id, label, empty, create, options, chosen, choose, highlight }: SuggestionsProps) {
  return (
    <div className={styles.popup}>
      <div className={styles.label} aria-hidden="true">
        {label}
      </div>
      {options.length === 0 && (
        <div className={styles.empty}>
          {empty}
          {create !== undefined && (
            <Link to={create.to} className={styles.make} onMouseDown={(event) => event.preventDefault()}>
              {create.label}
            </Link>
          )}
        </div>
      )}
      <div id={id} role="listbox" aria-label={label} className={styles.list}>
        {options.map((option, n) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and references the active option
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles keys
          <div
            key={option.id}
            id={optionId(id, n)}
            role="option"
            aria-selected={n === chosen}
            className={styles.option}
            ref={n === chosen ? scrollIntoViewIfNeeded : undefined}
            onMouseDown={(event) => event.preventDefault()}
            onMouseMove={() => highlight(n)}
            onClick={() => choose(n)}
          >
            <strong>{option.title}</strong>
            <span>{option.detail}</span>
          </div>
        ))}
      </div>
    </div>
  )
}

const scrollIntoViewIfNeeded = (element: HTMLElement | null): void => element?.scrollIntoView({ block: 'nearest' })
