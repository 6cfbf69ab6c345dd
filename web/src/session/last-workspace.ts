import type { Session } from './session.ts'

const storageKey = 'parley.workspace'

/** Where the person was last, else their first workspace; null when they have none. */
export function lastWorkspace({ workspaces }: Session): string | null {
  const last = localStorage.getItem(storageKey)
  const found = workspaces.find(({ id }) => id === last) ?? workspaces[0]
  return found?.id ?? null
}

export function saveLastWorkspace(workspaceId: string): void {
  localStorage.setItem(storageKey, workspaceId)
}
