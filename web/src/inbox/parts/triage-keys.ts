import { useMemo, useRef } from 'react'
import { t } from '../../text/index.ts'
import { type Shortcut, useShortcuts } from '../../ui/shortcuts.ts'

const menuKeys = { snooze: 'z', label: 'l', assign: 'a', macro: 'm' } as const

interface TriageKeys<M extends keyof typeof menuKeys> {
  /** What `toggleDone` does. */
  done: string
  toggleDone(): void
  /** What `toggleUnread` does. */
  unread: string
  toggleUnread(): void
  menus: readonly M[]
  open(menu: NoInfer<M>): void
  isOn: boolean
}

/** Registers the shortcuts of actions on one or several conversations. `menus` must be stable. */
export function useTriageKeys<M extends keyof typeof menuKeys>(group: string, keys: TriageKeys<M>): void {
  const { actions } = t.inbox
  const { done, unread, menus, isOn } = keys
  const latest = useRef(keys)
  latest.current = keys
  const shortcuts = useMemo<readonly Shortcut[]>(() => {
    if (!isOn) return []
    return [
      { keys: 'e', label: done, run: () => latest.current.toggleDone() },
      ...menus.map((menu) => ({ keys: menuKeys[menu], label: actions[menu], run: () => latest.current.open(menu) })),
      { keys: 'u', label: unread, run: () => latest.current.toggleUnread() },
    ]
  }, [actions, isOn, done, unread, menus])
  useShortcuts(group, shortcuts)
}
