import { whenIdle } from '../../ui/overlay/lazy.ts'

type FileSender = typeof import('./send-files.ts')

let loaded: FileSender | null = null

/** Loads the code that adds, uploads and sends files, when idle or with the first file. */
export async function loadFileSender(): Promise<FileSender> {
  loaded ??= await import('./send-files.ts')
  return loaded
}

/** Returns the code if loaded, for actions that a second click must not repeat. Loaded once there is a file. */
export const loadedFileSender = (): FileSender | null => loaded

// A failed load is repeated when the code is needed.
whenIdle(() => loadFileSender().catch(() => {}))
