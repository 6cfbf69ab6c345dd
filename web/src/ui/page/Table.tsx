import type { ReactNode } from 'react'
import styles from './Table.module.css'

export interface Column<T> {
  key: string
  title: string
  /** What a cell shows. */
  cell: (row: T) => ReactNode
  /** Folds away on narrow screens. */
  optional?: boolean
  numeric?: boolean
  /** Is read as one piece: not broken where there is room. */
  whole?: boolean
  /** May hold an address or another word without an end, which is broken anywhere; the first column may as well. */
  long?: boolean
}

interface TableProps<T> {
  label: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  keyOf: (row: T) => string
  /** Makes the first cell of each row a button that opens it. */
  open?: (row: T) => void
}

/** A short table, of what fits on a page. Long ones are virtual. */
export function Table<T>({ label, columns, rows, keyOf, open }: TableProps<T>) {
  return (
    <table className={styles.table} aria-label={label}>
      <thead>
        <tr>
          {columns.map(({ key, title, optional, numeric }) => {
            // A column of buttons has no name, and so no head.
            const Head = title === '' ? 'td' : 'th'
            return (
              <Head
                key={key}
                scope={title === '' ? undefined : 'col'}
                data-optional={optional || undefined}
                data-numeric={numeric || undefined}
              >
                {title}
              </Head>
            )
          })}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} className={open && styles.opens}>
            {columns.map(({ key, cell, optional, numeric, whole, long }, n) => (
              <td
                key={key}
                data-optional={optional || undefined}
                data-numeric={numeric || undefined}
                data-whole={whole || undefined}
                data-long={long || n === 0 || undefined}
              >
                {n === 0 && open !== undefined ? (
                  <button type="button" className={styles.open} onClick={() => open(row)}>
                    {cell(row)}
                  </button>
                ) : (
                  cell(row)
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
