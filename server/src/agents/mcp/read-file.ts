import type { Caller } from '../../access/keys/caller.ts'
import { ApiError } from '../../base/errors.ts'
import { conversationNotFound } from '../../inbox/conversation/errors.ts'
import { findConversation } from '../../inbox/conversation/queries.ts'
import { openMedia } from '../../inbox/media/open-media.ts'
import type { SendDeps } from '../../inbox/send/send-deps.ts'
import { filePlaces } from '../../inbox/team-api/files/file-places.ts'
import { openPieces } from '../../inbox/team-api/files/send-file.ts'
import { maxFileInMessage } from '../schema.ts'

const places = { ofMember: 2, ofWorkspace: 4, ofAll: 8 }

/** What it is, and its bytes in base64. Throws 404, 413 for one that is too large, and 429 when too many are read at once. */
export type ReadFile = (
  caller: Caller,
  conversationId: string,
  fileId: string,
) => Promise<{ type: string; base64: string }>

/** Reads files of conversations for those who cannot ask for their bytes by HTTP. */
export function fileReader(inbox: SendDeps): ReadFile {
  const place = filePlaces(places)
  return ({ workspaceId, keyId, connectionIds }, conversationId, fileId) =>
    place({ workspaceId, actor: { id: keyId } }, async () => {
      const conversation = await findConversation(inbox.db.sql, { workspaceId, connectionIds }, conversationId)
      if (conversation === undefined) throw conversationNotFound()
      const asker = { workspaceId, actorId: keyId, conversationId }
      const file = await openMedia(inbox, asker, fileId, 'file')
      const { bytes } = file.secret
      if (bytes > maxFileInMessage) {
        throw new ApiError(
          413,
          `The file has ${bytes} bytes, of at most ${maxFileInMessage} here. GET its path with your key.`,
        )
      }
      const pieces: Uint8Array[] = []
      for await (const piece of await openPieces(inbox, file, { start: 0, end: bytes })) pieces.push(piece)
      return { type: file.type, base64: Buffer.concat(pieces).toString('base64') }
    })
}
