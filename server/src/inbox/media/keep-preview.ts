import { Readable } from 'node:stream'
import type { Clock } from '../../base/clock.ts'
import { newId } from '../../base/id.ts'
import { type FileSecret, openFile, sealFile } from '../../media/sealed-file.ts'
import type { MediaStore } from '../../media/store/store.ts'
import type { Seen } from './check-file.ts'
import { hasPreview, type Preview, type Previews } from './preview.ts'

export interface KeptPreview extends Preview {
  storedAs: string
  key: Buffer
  bytes: number
}

/**
 * Makes the preview of a file that is in the store, and puts it beside it; notes its name in `stored` before. Null for what is
 * no picture, or none that can be read: it is there all the same, as a download.
 */
export async function keepPreview(
  { store, clock, previews }: { store: MediaStore; clock: Clock; previews: Previews },
  { stored, workspaceId }: { stored: string[]; workspaceId: string },
  secret: FileSecret,
  seen: Seen,
): Promise<KeptPreview | null> {
  if (!hasPreview(seen)) return null
  const all = { start: 0, end: seen.bytes }
  const read = (start: number, end: number | null) => store.open(secret.id, start, end)
  const preview = await previews.make(openFile(secret, all, read), seen.bytes, workspaceId)
  if (preview === null) return null
  const storedAs = newId(clock.now())
  const sealed = sealFile(storedAs, Readable.from([preview.webp]))
  stored.push(storedAs)
  await store.put(storedAs, sealed.stored)
  return { ...preview, storedAs, key: sealed.key, bytes: preview.webp.length }
}
