import { useEffect, useMemo, useRef, useState } from 'react'
import type { LeadAddress } from '../../shared/lead-view/address.ts'
import { type ColumnChoice, columnsText, defaultChoice, readChoice, readColumns } from '../fields/column-choice.ts'
import type { GoTo } from '../fields/use-address.ts'

export interface Columns {
  choice: ColumnChoice
  change(next: ColumnChoice): void
  reset(): void
}

// Resizing changes the width with every pixel; browsers reject address changes at that rate.
const saveDelayMs = 150

/**
 * Returns the columns from the address, as set by saved views, otherwise those stored in this browser for the
 * workspace. A change while a view is open changes the address, otherwise the stored choice.
 */
export function useColumns(workspaceId: string, address: LeadAddress, goTo: GoTo): Columns {
  const place = `parley.leads.columns.${workspaceId}`
  const [own, setOwn] = useState(() => readChoice(localStorage.getItem(place)))
  const { cols, saved } = address
  const carried = useMemo(() => (cols === undefined ? null : readColumns(cols)), [cols])
  const [moving, setMoving] = useState<{ from: Pick<LeadAddress, 'cols' | 'saved'>; choice: ColumnChoice } | null>(null)
  // After switching the view or its columns, the pending change no longer applies.
  const isFrom = (one: Pick<LeadAddress, 'cols' | 'saved'>) => one.cols === cols && one.saved === saved
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])

  const saveToAddress = (choice: ColumnChoice) => {
    setMoving({ from: { cols, saved }, choice })
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      goTo((before) => (isFrom(before) ? { ...before, cols: columnsText(choice) } : before), { replace: true })
      setMoving(null)
    }, saveDelayMs)
  }
  const saveOwn = (choice: ColumnChoice) => {
    if (choice === defaultChoice) localStorage.removeItem(place)
    else localStorage.setItem(place, JSON.stringify(choice))
    setOwn(choice)
  }
  const change = cols === undefined && saved === undefined ? saveOwn : saveToAddress
  const choice = moving !== null && isFrom(moving.from) ? moving.choice : (carried ?? own)
  return { choice, change, reset: () => change(defaultChoice) }
}
