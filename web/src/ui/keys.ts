import { createElement, useEffect, useLayoutEffect } from 'react'
import styles from './keys.module.css'
import { areKeysHeld } from './overlay/keys-held.ts'

/** What a key does. `keys` is `t`, `?`, `mod+k`, or `g i` for one after the other. */
export interface KeyAction {
  keys: string
  label: string
  run(): void
  /** Also while somebody types into a field. */
  inFields?: boolean
  /** Leads on from what the address says, whether or not that is drawn. */
  leadsOn?: boolean
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

const drawers = new Set<() => void>()

/**
 * Has `draw` draw what the address says before a key acts, since the router does it a moment later: of two keys that come one
 * right after the other, the second is meant for what the first one has opened.
 */
export function useDrawnForKeys(draw: () => void): void {
  useEffect(() => {
    drawers.add(draw)
    return () => void drawers.delete(draw)
  }, [draw])
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
  const hasOwnKeys = isField(event.target) || isInDialog(event.target)
  const mayWait = !hasOwnKeys && pressed.length === 1
  const isDone = !(mayWait && kept.length > 0) && act(pressed, event.timeStamp, hasOwnKeys)
  const isKept = !isDone && mayWait && keepers > 0
  if (isKept) kept = [...kept, event.key].slice(0, maxKept)
  if (isDone || isKept) event.preventDefault()
}

/** Returns whether the key did something, or begins a sequence that does. */
function act(pressed: string, atMs: number, hasOwnKeys: boolean): boolean {
  const before = first !== null && atMs - first.atMs < sequenceMs ? first.key : null
  first = null
  const find = () => actionOf(pressed, before, hasOwnKeys)
  const found = find()
  if (!hasOwnKeys && !found?.leadsOn) for (const draw of drawers) draw()
  const action = found?.leadsOn ? found : find()
  if (action !== undefined) action.run()
  else if (mayAct(hasOwnKeys).some((one) => one.keys.startsWith(`${pressed} `))) first = { key: pressed, atMs }
  return action !== undefined || first !== null
}

const mayAct = (hasOwnKeys: boolean): ActiveKey[] => activeKeys().filter(({ inFields }) => !hasOwnKeys || inFields)

function actionOf(pressed: string, before: string | null, hasOwnKeys: boolean): KeyAction | undefined {
  const keys = mayAct(hasOwnKeys)
  return (
    keys.find((one) => before !== null && one.keys === keySequence(before, pressed)) ??
    keys.find((one) => one.keys === pressed)
  )
}

const maxKept = 50
let keepers = 0
let kept: string[] = []
const forget = () => {
  kept = []
}

/**
 * While it is there, what is to act on a key is still on its way: the key is kept until then. Whoever takes to the pointer meanwhile
 * is elsewhere by then.
 */
export function KeysKept(): null {
  useLayoutEffect(() => {
    keepers++
    document.addEventListener('pointerdown', forget)
  }, [])
  useEffect(
    () => () => {
      document.removeEventListener('pointerdown', forget)
      // What comes in its place hears keys by then.
      queueMicrotask(() => {
        keepers--
        if (keepers === 0) answerKept()
      })
    },
    [],
  )
  return null
}

function answerKept(): void {
  const keys = kept
  forget()
  keys.forEach((key, n) => {
    // What was typed on for a field that a key before has opened.
    if (isField(document.activeElement)) document.execCommand('insertText', false, key)
    // Pressed again only because nothing happened.
    else if (key !== keys[n - 1] && !areKeysHeld() && !isDialogOpen()) act(key.toLowerCase(), performance.now(), false)
  })
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
