import { type KeyboardEvent, type RefObject, useEffect, useMemo, useRef } from 'react'
import { t } from '../../text/index.ts'
import { type Shortcut, useShortcuts } from '../../ui/shortcuts.ts'
import { useInboxContext } from '../parts/inbox-context.ts'
import { currentSelection, toggleSelected } from '../parts/selection.ts'

/**
 * Moves through the results of all groups: J and K open, as in the list; arrow keys only move the focus. After
 * finishing a conversation, the next result opens.
 */
export function useResultNavigation(
  scroller: RefObject<HTMLElement | null>,
  openId: string | undefined,
  isHere: boolean,
) {
  const { close, overrideNext } = useInboxContext()
  const latest = useRef({ openId, close })
  latest.current = { openId, close }
  const last = useRef<Element | null>(null)
  const moves = useMemo(() => {
    const links = () => [...(scroller.current?.querySelectorAll<HTMLElement>('a') ?? [])]
    // An opened message takes the focus: navigation continues from its result.
    const opened = () => {
      const ofOpen = links().filter((link) => conversationOf(link) === latest.current.openId)
      return ofOpen.find((link) => link === last.current) ?? ofOpen[0]
    }
    const here = () => links().find((link) => link === document.activeElement) ?? opened()
    const focusBeside = (step: 1 | -1) => {
      const all = links()
      const from = here()
      const next = all[(from === undefined ? -1 : all.indexOf(from)) + step]
      next?.focus()
      return next
    }
    const moveBy = (step: 1 | -1) => {
      const next = focusBeside(step)
      // While several are selected, do not open: that would mark them as read.
      if (currentSelection().ids.length === 0) next?.click()
    }
    const toggle = () => {
      const id = here()?.dataset.row
      if (id !== undefined) toggleSelected(id)
    }
    const openNextResult = () => {
      const [all, from] = [links(), opened()]
      if (from === undefined) return
      const at = all.indexOf(from)
      const next = [...all.slice(at), ...all.slice(0, at).reverse()].find(
        (link) => conversationOf(link) !== latest.current.openId,
      )
      if (next === undefined) return latest.current.close()
      next.focus()
      next.click()
    }
    return { focusBeside, moveBy, toggle, openNextResult }
  }, [scroller])
  useEffect(() => (isHere ? overrideNext(moves.openNextResult) : undefined), [isHere, overrideNext, moves])
  useListKeys(isHere ? moves : null)
  return {
    onFocus: () => {
      last.current = document.activeElement
    },
    onKeyDown: (event: KeyboardEvent) => {
      const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : null
      if (step === null) return
      event.preventDefault()
      // The search field is above the first result.
      const isMoved = moves.focusBeside(step) !== undefined
      if (!isMoved && step === -1) document.querySelector<HTMLElement>('input[type="search"]')?.focus()
    },
  }
}

export interface ListMoves {
  moveBy(step: 1 | -1): void
  /** Selects the current row, or no longer. */
  toggle(): void
}

/** Moves through a list by J and K, and selects by X. `moves` must be stable; null while another list has the keys. */
export function useListKeys(moves: ListMoves | null): void {
  const keys = useMemo<readonly Shortcut[]>(() => {
    if (moves === null) return []
    return [
      { keys: 'j', label: t.inbox.actions.next, skipsFlush: true, run: () => moves.moveBy(1) },
      { keys: 'k', label: t.inbox.actions.previous, skipsFlush: true, run: () => moves.moveBy(-1) },
      { keys: 'x', label: t.inbox.bulk.toggle, run: () => moves.toggle() },
    ]
  }, [moves])
  useShortcuts(t.inbox.title, keys)
}

const conversationOf = ({ dataset }: HTMLElement): string | undefined => dataset.row ?? dataset.of
