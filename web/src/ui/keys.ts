import { createElement, useEffect } from 'react'
import styles from './keys.module.css'
import { areKeysHeld } from './overlay/keys-held.ts'

/** What a key does. `keys` is `t`, `?`, `mod+k`, or `g i` for one after the other. */
export interface KeyAction {
  keys: string
  label: string
  run(): void
  /** Also while somebody types into a field. */
  inFields?: boolean
}

export interface ActiveKey extends KeyAction {
  group: string
}

const sequenceMs = 1000
const stacks: { group: string; actions: readonly KeyAction[] }[] = []
let first: { key: string; atMs: number } | null = null

export const keySequence = (before: string, key: string): string => `${before} ${key}`

/** Lets keys act while the component is there. What was added last comes first. Keep `actions` stable. */
export function useKeys(group: string, actions: readonly KeyAction[]): void {
  useEffect(() => {
    const entry = { group, actions }
    if (stacks.length === 0) document.addEventListener('keydown', onKeyDown)
    stacks.push(entry)
    return () => {
      stacks.splice(stacks.indexOf(entry), 1)
      if (stacks.length === 0) document.removeEventListener('keydown', onKeyDown)
    }
  }, [group, actions])
}

/** Every key that acts now, each once. */
export function activeKeys(): ActiveKey[] {
  const all = stacks.toReversed().flatMap(({ group, actions }) => actions.map((action) => ({ ...action, group })))
  return all.filter((one, n) => all.findIndex(({ keys }) => keys === one.keys) === n)
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || areKeysHeld() || isDialogOpen()) return
  const pressed = nameOf(event)
  if (pressed === null) return
  const inField = isField(event.target)
  const before = first !== null && event.timeStamp - first.atMs < sequenceMs ? first.key : null
  first = null
  const keys = activeKeys().filter(({ inFields }) => (!inField && !isInDialog(event.target)) || inFields)
  const action =
    keys.find((one) => before !== null && one.keys === keySequence(before, pressed)) ??
    keys.find((one) => one.keys === pressed)
  if (action !== undefined) {
    event.preventDefault()
    action.run()
  } else if (keys.some((one) => one.keys.startsWith(`${pressed} `))) {
    first = { key: pressed, atMs: event.timeStamp }
  }
}

// By what is printed on the key in the reader's layout; Shift is part of the character.
function nameOf({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): string | null {
  if (altKey || key.length === 0 || ['Shift', 'Control', 'Meta'].includes(key)) return null
  const name = key.length === 1 ? key.toLowerCase() : key
  return ctrlKey || metaKey ? `mod+${name}` : name
}

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input:not([type="radio"], [type="checkbox"]), textarea, select'))

const isInDialog = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('[role="dialog"], [role="menu"], [role="listbox"]') !== null

// Wherever the focus is: that of a dialog is moved a moment after it shows.
const isDialogOpen = (): boolean => document.querySelector('[role="dialog"][aria-modal="true"]') !== null

const isMac = /mac|iphone|ipad/i.test(navigator.platform)
const shown: Record<string, string> = { mod: isMac ? '⌘' : 'Ctrl', Escape: 'Esc', Enter: '↵', ' ': 'Space' }

/** The keys as they are printed on a keyboard. */
export function KeyHint({ keys }: { keys: string }) {
  const parts = (keys === ' ' ? [keys] : keys.split(/[ +]/)).map(
    (part) => shown[part] ?? (part.length === 1 ? part.toUpperCase() : part),
  )
  return createElement(
    'span',
    { className: styles.hint },
    parts.map((part) => createElement('kbd', { key: part }, part)),
  )
}
