import type { Session } from './session.ts'

const storageKey = 'parley.workspace'

/** Returns the last used workspace, otherwise the first; null without any. */
export function lastWorkspace({ workspaces }: Session): string | null {
  const last = localStorage.getItem(storageKey)
  const found = workspaces.find(({ id }) => id === last) ?? workspaces[0]
  return found?.id ?? null
}

export function saveLastWorkspace(workspaceId: string): void {
  localStorage.setItem(storageKey, workspaceId)
}
