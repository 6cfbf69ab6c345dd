import type { ReactNode } from 'react'
import styles from './Table.module.css'

export interface Column<T> {
  key: string
  title: string
  cell: (row: T) => ReactNode
  /** Hidden on narrow screens. */
  optional?: boolean
  numeric?: boolean
  /** Not wrapped if there is space. */
  whole?: boolean
  /** May contain a URL or another long word, which breaks anywhere; the first column may too. */
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

/** Table that fits on a page. Long ones are virtual. */
export function Table<T>({ label, columns, rows, keyOf, open }: TableProps<T>) {
  return (
    <table className={styles.table} aria-label={label}>
      <thead>
        <tr>
          {columns.map(({ key, title, optional, numeric }) => {
            // A column of buttons has no title, so no header cell.
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
