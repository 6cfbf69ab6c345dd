import { useState } from 'react'
import { type ColumnChoice, firstChoice, readChoice } from '../fields/column-choice.ts'

export interface Columns {
  choice: ColumnChoice
  change(next: ColumnChoice): void
  reset(): void
}

/** Which columns this browser shows of the workspace's leads. */
export function useColumns(workspaceId: string): Columns {
  const place = `parley.leads.columns.${workspaceId}`
  const [choice, setChoice] = useState(() => readChoice(localStorage.getItem(place)))
  return {
    choice,
    change: (next) => {
      localStorage.setItem(place, JSON.stringify(next))
      setChoice(next)
    },
    reset: () => {
      localStorage.removeItem(place)
      setChoice(firstChoice)
    },
  }
}
