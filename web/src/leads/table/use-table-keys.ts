import { useCallback, useMemo } from 'react'
import { t } from '../../text/index.ts'
import { formatNumber } from '../../ui/format/time.ts'
import { useShortcuts } from '../../ui/shortcuts.ts'
import type { LeadActions } from '../fields/change.ts'
import { nameOf } from '../fields/lead.ts'
import type { ActiveCell, Latest } from './use-active-cell.ts'
import { removeSelected } from './use-selection.ts'

interface TableKeys {
  isFocused: boolean
  cell: ActiveCell
  selectAll(): void
  /** Number of selected leads. */
  selected: number
  latest: { current: Latest }
  actions: LeadActions
}

/** Registers shortcuts: some work everywhere, others only in the table, where Enter and Space press no button. */
export function useTableKeys({ isFocused, cell, selectAll, selected, latest, actions }: TableKeys): void {
  const { goTo, goAcross, edit } = cell
  const move = useCallback((step: number) => goTo(latest.current.row + step), [goTo, latest])
  const keys = t.leads.keys
  useShortcuts(
    keys.group,
    useMemo(() => {
      const page = () => Math.max(1, Math.floor(window.innerHeight / 36) - 6)
      const everywhere = [
        { keys: 'j', label: keys.next, run: () => move(1) },
        { keys: 'k', label: keys.previous, run: () => move(-1) },
        {
          keys: 'x',
          label: keys.select,
          run: () => {
            const { active, selection } = latest.current
            if (active !== undefined) selection.toggle(active.id)
          },
        },
        {
          keys: '#',
          label: selected === 0 ? keys.delete : keys.deleteSelected({ n: formatNumber(selected) }),
          run: () => {
            const { active, selection } = latest.current
            // The selection takes precedence over the active cell.
            if (selection.ids.size > 0) removeSelected(selection, actions)
            else if (active !== undefined) void actions.remove([{ id: active.id, name: nameOf(active) }])
          },
        },
      ]
      const within = [
        { keys: 'Enter', label: keys.edit, run: edit },
        { keys: 'F2', label: keys.edit, run: edit },
        {
          keys: ' ',
          label: keys.open,
          run: () => {
            const { active, openId, open } = latest.current
            if (active !== undefined) open(openId === active.id ? null : active)
          },
        },
        { keys: 'mod+a', label: keys.selectAll, run: selectAll },
        { keys: 'ArrowDown', label: keys.next, run: () => move(1) },
        { keys: 'ArrowUp', label: keys.previous, run: () => move(-1) },
        { keys: 'ArrowRight', label: t.leads.columns, run: () => goAcross(1) },
        { keys: 'ArrowLeft', label: t.leads.columns, run: () => goAcross(-1) },
        { keys: 'PageDown', label: keys.next, run: () => move(page()) },
        { keys: 'PageUp', label: keys.previous, run: () => move(-page()) },
        { keys: 'Home', label: keys.previous, run: () => goTo(0) },
        { keys: 'End', label: keys.next, run: () => goTo(Number.MAX_SAFE_INTEGER) },
      ]
      return isFocused ? [...everywhere, ...within] : everywhere
    }, [isFocused, move, goTo, goAcross, edit, selectAll, selected, latest, actions, keys]),
  )
}
