import { type RefObject, useLayoutEffect } from 'react'

/** All of these is not near to anything in it. */
const containers = 'main, [role="dialog"]'
/** What can be come to with the Tab key. */
const reachable = 'a[href], button, input, select, textarea, [tabindex]'

/** Where the focus was when something opened over it, and what is near it. */
interface FocusPlace {
  /** Whatever it may go back to, the best first. */
  to: readonly HTMLElement[]
  /** What is around it, from within to without, with the number of its place among all that can be reached there. */
  around: readonly { box: HTMLElement; at: number }[]
}

// The focus is moved a moment after something shows: what opens in place of another has it by then.
const settleMs = 10

/**
 * Gives the focus back once what has opened is closed, also where it goes with all that drew it: to what had it before, else
 * to the button that opened it, and when those are gone by then, to what stands in their place.
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

/** What had the focus last, with the buttons of what it stood in: what was chosen in a menu goes with the menu. */
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

/** The buttons of what an element stands in, from within to without. */
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

/** Whether nobody has taken the focus since: it is on nothing, or still in what is closing. */
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

/** What was deleted may be drawn for a moment longer than what asked for it: does this where it then goes, and nobody has the focus. */
function afterRemoval(element: HTMLElement, run: () => void): void {
  const watch = new MutationObserver(() => {
    if (element.isConnected) return
    stop()
    // What closes over it, and takes it along, knows better where the focus belongs.
    setTimeout(() => isFocusOnBody() && run(), 2 * settleMs)
  })
  // Also heard while it is taken out, and when one leaves the window: from both the focus may come back to nothing.
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

/** What stands now where something was, in the nearest of what was around it that is still there. */
function replacementFor(around: FocusPlace['around']): HTMLElement | undefined {
  for (const { box, at } of around.filter(({ box }) => isConnected(box))) {
    if (box.matches(containers)) return box
    const all = reachableIn(box)
    const found = all[Math.min(Math.max(at, 0), all.length - 1)]
    if (found !== undefined) return found
  }
  return document.querySelector<HTMLElement>('main') ?? undefined
}

/** The same, unless all that was near has gone as well: then one is on another page by now. */
function nearbyReplacementFor(around: FocusPlace['around']): HTMLElement | undefined {
  return around.some(({ box }) => isConnected(box) && !box.matches(containers)) ? replacementFor(around) : undefined
}
