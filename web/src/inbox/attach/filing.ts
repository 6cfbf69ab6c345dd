import { whenIdle } from '../../ui/overlay/later.ts'

type Filing = typeof import('./send-files.ts')

let loaded: Filing | null = null

/** What takes, uploads and sends files: its code comes in an idle moment, or with the first file. */
export async function filing(): Promise<Filing> {
  loaded ??= await import('./send-files.ts')
  return loaded
}

/** The same at once, for what must not be done twice by a second click; there as soon as a file is. */
export const filingNow = (): Filing | null => loaded

// Whoever needs it asks again.
whenIdle(() => filing().catch(() => {}))
