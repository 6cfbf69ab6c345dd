import { openFolderStore } from '../../../src/media/store/folder-store.ts'
import type { MediaStore } from '../../../src/media/store/store.ts'
import { newFolder } from '../folder.ts'

/** A folder for files as the start of the service leaves it. */
export async function markedStore(): Promise<MediaStore> {
  const store = openFolderStore(await newFolder())
  await store.writeMark('a mark')
  return store
}
