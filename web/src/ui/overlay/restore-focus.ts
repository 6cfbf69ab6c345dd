import { type RefObject, useLayoutEffect } from 'react'

/** The whole page or dialog is not near anything in it. */
const containers = 'main, [role="dialog"]'
/** Elements in the tab order. */
const reachable = 'a[href], button, input, select, textarea, [tabindex]'

/** Where the focus was when something opened, and the elements around it. */
interface FocusPlace {
  /** Elements to return the focus to, best first. */
  to: readonly HTMLElement[]
  /** Ancestors, innermost first, each with the index of the focused element among the focusable ones in it. */
  around: readonly { box: HTMLElement; at: number }[]
}

// The focus moves shortly after something is shown: whatever opens in place of another has it by then.
const settleMs = 10

/**
 * Restores the focus when something closes, also when it is unmounted together with its parent: to the previous
 * element, otherwise to the button that opened it, and if those are gone, to what has replaced them.
 */
export function useRestoreFocus(isOpen: boolean, button?: RefObject<HTMLElement | null>, isToButton = false): void {
  useLayoutEffect(() => {
    if (!isOpen) return
    const place = focusPlaceOf(button?.current ?? null, isToButton)
    return () => {
      const atClose = document.activeElement
      setTimeout(() => {
        if (isFocusLost(atClose)) restoreFocus(place)
      }, settleMs)
    }
  }, [isOpen, button, isToButton])
}

const layers = '[role="dialog"], [role="menu"], [role="listbox"]'

/** Last focused element, with the buttons of the layers around it: a chosen menu item disappears with its menu. */
let last: { element: HTMLElement; owners: HTMLElement[] } | null = null
document.addEventListener('focusin', ({ target }) => {
  if (target instanceof HTMLElement) last = { element: target, owners: ownersOf(target) }
})

function focusPlaceOf(button: HTMLElement | null, isToButton: boolean): FocusPlace {
  const focused = document.activeElement
  const had = focused instanceof HTMLElement && focused !== document.body ? focused : null
  const isOfLast = last !== null && (had === last.element || (had === null && !last.element.isConnected))
  const opener = isToButton ? [button, had] : [had, button]
  const to = [...opener, ...(isOfLast ? (last?.owners ?? []) : [])].filter((one) => one !== null)
  const outside = to.find((one) => one.closest('[data-portal]') === null) ?? to[0]
  return { to, around: outside === undefined ? [] : aroundOf(outside) }
}

/** Returns the buttons of the layers around an element, innermost first. */
function ownersOf(element: HTMLElement | null): HTMLElement[] {
  const layer = element?.closest<HTMLElement>(layers)
  const name = /^(.+)-dropdown$/.exec(layer?.id ?? '')?.[1]
  if (name === undefined) return []
  const owner = document.getElementById(name) ?? document.getElementById(`${name}-target`)
  return owner === null ? [] : [owner, ...ownersOf(owner)]
}

function aroundOf(element: HTMLElement): FocusPlace['around'] {
  const around = []
  for (let box = element.parentElement; box !== null && box !== document.body; box = box.parentElement) {
    around.push({ box, at: reachableIn(box).indexOf(element) })
    if (box.matches(containers)) break
  }
  return around
}

const reachableIn = (box: HTMLElement): HTMLElement[] =>
  [...box.querySelectorAll<HTMLElement>(reachable)].filter((one) => one.tabIndex >= 0 && isConnected(one))

const isConnected = (element: HTMLElement): boolean =>
  element.isConnected && element.checkVisibility({ visibilityProperty: true }) && !element.matches(':disabled')

const isFocusOnBody = (): boolean => document.activeElement === null || document.activeElement === document.body

/** Returns whether the focus has not moved since: it is on nothing, or still in the closing layer. */
function isFocusLost(atClose: Element | null): boolean {
  const now = document.activeElement
  if (now === null || isFocusOnBody()) return true
  return now === atClose && now.closest('[data-portal]') !== null && now.closest('[aria-modal="true"]') === null
}

function restoreFocus({ to, around }: FocusPlace): void {
  const same = to.map((one) => (one.isConnected || one.id === '' ? one : (document.getElementById(one.id) ?? one)))
  const had = same.find(isConnected)
  const found = had ?? replacementFor(around)
  found?.focus({ preventScroll: true })
  if (had !== undefined) afterRemoval(had, () => nearbyReplacementFor(around)?.focus({ preventScroll: true }))
}

/** Runs when a deleted element, which may stay rendered longer than its dialog, is removed without focus. */
function afterRemoval(element: HTMLElement, run: () => void): void {
  const watch = new MutationObserver(() => {
    if (element.isConnected) return
    stop()
    // Another layer that closes with it may restore the focus more precisely.
    setTimeout(() => isFocusOnBody() && run(), 2 * settleMs)
  })
  // Also fires on removal of the element and when the window loses focus: then the focus may return to nothing.
  const onLeave = () =>
    queueMicrotask(() => {
      if (element.isConnected && document.hasFocus()) stop()
    })
  const stop = () => {
    watch.disconnect()
    element.removeEventListener('focusout', onLeave)
  }
  element.addEventListener('focusout', onLeave)
  watch.observe(document.body, { childList: true, subtree: true })
}

/** Returns what is now at the place of a removed element, in its nearest remaining ancestor. */
function replacementFor(around: FocusPlace['around']): HTMLElement | undefined {
  for (const { box, at } of around.filter(({ box }) => isConnected(box))) {
    if (box.matches(containers)) return box
    const all = reachableIn(box)
    const found = all[Math.min(Math.max(at, 0), all.length - 1)]
    if (found !== undefined) return found
  }
  return document.querySelector<HTMLElement>('main') ?? undefined
}

/** Returns the replacement, unless everything near it is gone too: then the page has changed. */
function nearbyReplacementFor(around: FocusPlace['around']): HTMLElement | undefined {
  return around.some(({ box }) => isConnected(box) && !box.matches(containers)) ? replacementFor(around) : undefined
}
