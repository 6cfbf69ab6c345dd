import { type StoredFile, TooManyBytes } from '../files/file-store.ts'
import { withSize } from '../files/look-into.ts'
import { boundaryOf, gather, MalformedForm, readParts } from '../files/multipart.ts'
import type { Platform } from '../platform.ts'
import type { BusinessNumber } from '../world.ts'
import { GraphError, invalidParameter } from './graph-error.ts'
import { bareType, bytesAllowed, mostBytes, takenTypes } from './media-types.ts'

/** Takes a file that is to be sent, as the platform does, and keeps it for 30 days. */
export async function takeUpload(
  platform: Platform,
  { numberId }: BusinessNumber,
  contentType: string,
  body: AsyncIterable<Uint8Array>,
): Promise<StoredFile> {
  const boundary = boundaryOf(contentType)
  if (boundary === null) throw invalidParameter('The parameter messaging_product is required.')
  let file: StoredFile | null = null
  const fields = new Map<string, string>()
  try {
    for await (const part of readParts(body, boundary)) {
      if (part.name !== 'file' || part.fileName === null) {
        fields.set(part.name, (await gather(part.body)).toString('utf8'))
        continue
      }
      if (file !== null) throw invalidParameter('Param file must be one file.')
      const told = { mimeType: part.type ?? 'application/octet-stream', name: part.fileName || null }
      file = await platform.files.take(numberId, part.body, told, mostBytes)
    }
    const kept = checked(file, fields)
    return withSize(kept)
  } catch (error) {
    if (file !== null) platform.files.remove(file.id)
    if (error instanceof TooManyBytes) throw tooLarge(mostBytes)
    if (error instanceof MalformedForm) throw invalidParameter(error.message)
    throw error
  }
}

function checked(file: StoredFile | null, fields: ReadonlyMap<string, string>): StoredFile {
  if (fields.get('messaging_product') !== 'whatsapp') {
    throw invalidParameter('The parameter messaging_product is required.')
  }
  if (file === null) throw invalidParameter('The parameter file is required.')
  file.mimeType = fields.get('type') || file.mimeType
  const most = bytesAllowed(file.mimeType)
  if (most === null) {
    throw invalidParameter(
      `Param file must be a file with one of the following types: ${takenTypes.join(', ')}. ` +
        `Received file of type '${bareType(file.mimeType).slice(0, 100)}'.`,
    )
  }
  if (file.size === 0) throw new GraphError(131053, { details: 'The file is empty.' })
  if (file.size > most) throw tooLarge(most)
  return file
}

const tooLarge = (most: number): GraphError =>
  new GraphError(131053, { details: `File size is too large: a file of this type may have ${most} bytes.` })
