import { whenIdle } from '../../ui/overlay/lazy.ts'

type FileSender = typeof import('./send-files.ts')

let loaded: FileSender | null = null

/** What takes, uploads and sends files: its code comes in an idle moment, or with the first file. */
export async function loadFileSender(): Promise<FileSender> {
  loaded ??= await import('./send-files.ts')
  return loaded
}

/** The same at once, for what must not be done twice by a second click; there as soon as a file is. */
export const loadedFileSender = (): FileSender | null => loaded

// Whoever needs it asks again.
whenIdle(() => loadFileSender().catch(() => {}))
