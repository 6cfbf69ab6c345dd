import { useEffect, useMemo, useRef, useState } from 'react'
import type { LeadAddress } from '../fields/address.ts'
import { type ColumnChoice, columnsText, defaultChoice, readChoice, readColumns } from '../fields/column-choice.ts'
import type { GoTo } from '../fields/use-address.ts'

export interface Columns {
  choice: ColumnChoice
  change(next: ColumnChoice): void
  reset(): void
}

// A column that is drawn wider changes with every pixel; browsers refuse addresses that change so often.
const saveDelayMs = 150

/**
 * Which columns are shown: those that the address carries, as a saved view does, and else those that this browser shows of
 * the workspace's leads. What is changed while a view is open changes the address, and else the reader's own choice.
 */
export function useColumns(workspaceId: string, address: LeadAddress, goTo: GoTo): Columns {
  const place = `parley.leads.columns.${workspaceId}`
  const [own, setOwn] = useState(() => readChoice(localStorage.getItem(place)))
  const { cols, saved } = address
  const carried = useMemo(() => (cols === undefined ? null : readColumns(cols)), [cols])
  const [moving, setMoving] = useState<{ from: Pick<LeadAddress, 'cols' | 'saved'>; choice: ColumnChoice } | null>(null)
  // Of another view, or with columns of its own by now, it is no longer what was changed.
  const isFrom = (one: Pick<LeadAddress, 'cols' | 'saved'>) => one.cols === cols && one.saved === saved
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])

  const carry = (choice: ColumnChoice) => {
    setMoving({ from: { cols, saved }, choice })
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      goTo((before) => (isFrom(before) ? { ...before, cols: columnsText(choice) } : before), { replace: true })
      setMoving(null)
    }, saveDelayMs)
  }
  const keep = (choice: ColumnChoice) => {
    if (choice === defaultChoice) localStorage.removeItem(place)
    else localStorage.setItem(place, JSON.stringify(choice))
    setOwn(choice)
  }
  const change = cols === undefined && saved === undefined ? keep : carry
  const choice = moving !== null && isFrom(moving.from) ? moving.choice : (carried ?? own)
  return { choice, change, reset: () => change(defaultChoice) }
}
