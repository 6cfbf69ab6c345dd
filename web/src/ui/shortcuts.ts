import { createElement, useEffect, useLayoutEffect, useMemo, useRef } from 'react'
import { t } from '../text/index.ts'
import { areShortcutsBlocked } from './overlay/shortcuts-blocked.ts'
import styles from './shortcuts.module.css'

/** A shortcut. `keys` is `t`, `?`, `mod+k`, or `g i` for a sequence. */
export interface Shortcut {
  keys: string
  label: string
  run(): void
  /** Whether it also works in text fields. */
  inFields?: boolean
  /** Whether it depends only on the address, so that it need not be rendered first. */
  skipsFlush?: boolean
}

export interface ActiveShortcut extends Shortcut {
  group: string
}

const sequenceMs = 1000
const stacks: { group: string; actions: readonly Shortcut[] }[] = []
let first: { key: string; atMs: number } | null = null

export const keySequence = (before: string, key: string): string => `${before} ${key}`

/** Registers shortcuts while mounted. The last registered ones take precedence. `actions` must be stable. */
export function useShortcuts(group: string, actions: readonly Shortcut[]): void {
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

/** Registers one shortcut while mounted and `isOn`. Other than for `useShortcuts`, it need not be stable. */
export function useShortcut(group: string, { keys, label, inFields = false, run }: Shortcut, isOn = true): void {
  const latest = useRef(run)
  latest.current = run
  const actions = useMemo(
    () => (isOn ? [{ keys, label, inFields, run: () => latest.current() }] : []),
    [keys, label, inFields, isOn],
  )
  useShortcuts(group, actions)
}

const flushers = new Set<() => void>()

/**
 * Calls `draw` before a shortcut runs, to render the current address, which the router does with a delay: of two quick
 * key presses, the second applies to what the first has opened.
 */
export function useFlushBeforeShortcut(draw: () => void): void {
  useEffect(() => {
    flushers.add(draw)
    return () => void flushers.delete(draw)
  }, [draw])
}

/** Returns all active shortcuts without duplicates. */
export function activeShortcuts(): ActiveShortcut[] {
  const all = stacks.toReversed().flatMap(({ group, actions }) => actions.map((action) => ({ ...action, group })))
  return all.filter((one, n) => all.findIndex(({ keys }) => keys === one.keys) === n)
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || areShortcutsBlocked() || isDialogOpen()) return
  const pressed = keyName(event)
  if (pressed === null) return
  const hasOwnKeys = isField(event.target) || isInDialog(event.target)
  const mayWait = !hasOwnKeys && pressed.length === 1
  const isDone = !(mayWait && queued.length > 0) && handleKey(pressed, event.timeStamp, hasOwnKeys)
  const isKept = !isDone && mayWait && pendingComponents > 0
  if (isKept) queued = [...queued, event.key].slice(0, maxQueued)
  if (isDone || isKept) event.preventDefault()
}

/** Returns whether the key ran a shortcut or started a sequence. */
function handleKey(pressed: string, atMs: number, hasOwnKeys: boolean): boolean {
  const before = first !== null && atMs - first.atMs < sequenceMs ? first.key : null
  first = null
  const find = () => findShortcut(pressed, before, hasOwnKeys)
  const found = find()
  if (!hasOwnKeys && !found?.skipsFlush) for (const draw of flushers) draw()
  const action = found?.skipsFlush ? found : find()
  if (action !== undefined) action.run()
  else if (canHandleKey(hasOwnKeys).some((one) => one.keys.startsWith(`${pressed} `))) first = { key: pressed, atMs }
  return action !== undefined || first !== null
}

const canHandleKey = (hasOwnKeys: boolean): ActiveShortcut[] =>
  activeShortcuts().filter(({ inFields }) => !hasOwnKeys || inFields)

function findShortcut(pressed: string, before: string | null, hasOwnKeys: boolean): Shortcut | undefined {
  const keys = canHandleKey(hasOwnKeys)
  return (
    keys.find((one) => before !== null && one.keys === keySequence(before, pressed)) ??
    keys.find((one) => one.keys === pressed)
  )
}

const maxQueued = 50
let pendingComponents = 0
let queued: string[] = []
const clearQueued = () => {
  queued = []
}

/**
 * While mounted, a component with shortcuts is loading: queues key presses until then. A click meanwhile discards them.
 */
export function ShortcutsQueued(): null {
  useLayoutEffect(() => {
    pendingComponents++
    document.addEventListener('pointerdown', clearQueued)
  }, [])
  useEffect(
    () => () => {
      document.removeEventListener('pointerdown', clearQueued)
      // The component that replaces it has registered its shortcuts by then.
      queueMicrotask(() => {
        pendingComponents--
        if (pendingComponents === 0) replayQueuedKeys()
      })
    },
    [],
  )
  return null
}

function replayQueuedKeys(): void {
  const keys = queued
  clearQueued()
  keys.forEach((key, n) => {
    // Text typed for a field that an earlier key has opened.
    if (isField(document.activeElement)) document.execCommand('insertText', false, key)
    // A repeated key was pressed only because nothing happened.
    else if (key !== keys[n - 1] && !areShortcutsBlocked() && !isDialogOpen())
      handleKey(key.toLowerCase(), performance.now(), false)
  })
}

// Uses the character in the reader's keyboard layout, which includes Shift.
function keyName({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): string | null {
  if (altKey || key.length === 0 || ['Shift', 'Control', 'Meta'].includes(key)) return null
  const name = key.length === 1 ? key.toLowerCase() : key
  return ctrlKey || metaKey ? `mod+${name}` : name
}

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input:not([type="radio"], [type="checkbox"]), textarea, select'))

const isInDialog = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('[role="dialog"], [role="menu"], [role="listbox"]') !== null

// Regardless of the focus, which moves into a dialog shortly after it is shown.
const isDialogOpen = (): boolean => document.querySelector('[role="dialog"][aria-modal="true"]') !== null

const isMac = /mac|iphone|ipad/i.test(navigator.platform)
const displayKey: Record<string, string> = { mod: isMac ? '⌘' : 'Ctrl', Escape: 'Esc', Enter: '↵' }

/** Keys as printed on a keyboard. */
export function ShortcutHint({ keys }: { keys: string }) {
  const parts = (keys === ' ' ? [keys] : keys.split(/[ +]/)).map(
    (part) => displayKey[part] ?? (part === ' ' ? t.common.keys.space : part.length === 1 ? part.toUpperCase() : part),
  )
  return createElement(
    'span',
    { className: styles.hint },
    parts.map((part) => createElement('kbd', { key: part }, part)),
  )
}
