import { Type } from 'typebox'
import { ApiError, invalid } from '../../base/errors.ts'
import { oneOf, timestamp } from '../../base/route.ts'
import { text, uuid, wholeNumber } from '../../base/schema-types.ts'
import { loadConversation } from '../../inbox/conversation/queries.ts'
import { receiveUpload, removeUpload, type UploadDeps, type UploadResult } from '../../inbox/media/uploads.ts'
import type { SendDeps } from '../../inbox/send/send-deps.ts'
import { createFileSlots, uploadSlots } from '../../inbox/team-api/files/send-file.ts'
import { mediaKinds } from '../../inbox/team-api/media-schema.ts'
import { type AgentUploads, defineTool, input, maxInlineFileBytes, output } from '../define-tool.ts'
import { notOwnerError } from '../presenters/conversation.ts'
import { exampleIds } from '../presenters/examples.ts'
import { actorOf, scopeOf } from '../presenters/viewer.ts'

const maxBase64 = Math.ceil(maxInlineFileBytes / 3) * 4

export const uploadKind = oneOf(mediaKinds, {
  description: 'Everything but images, videos and audio is a `document`.',
  example: 'document',
})
export const uploadName = text(255, 'Customers see the name of a document.', { example: 'invoice.pdf' })
export const uploadType = text(150, 'Media type, if it cannot be detected from the bytes.', {
  example: 'text/plain',
})

export const uploadFile = defineTool({
  name: 'upload_file',
  title: 'Upload a file',
  description:
    'Uploads a file of at most 2 MiB for `file` of answer, in a conversation of yours. Sends nothing yet. Larger files: POST the raw bytes to /api/v2/conversations/{conversation_id}/files?kind=document&name=invoice.pdf.',
  scopes: ['inbox.write'],
  http: { method: 'POST', path: '/conversations/:conversation_id/uploads', maxBodyBytes: maxBase64 + 16_384 },
  input: input({
    conversation_id: uuid(),
    kind: uploadKind,
    base64: Type.String({
      minLength: 4,
      maxLength: maxBase64,
      description: 'Without line breaks and without `data:`.',
      example: 'JVBERi0xLjcK',
    }),
    name: Type.Optional(uploadName),
    type: Type.Optional(uploadType),
  }),
  output: output('FileUploaded', {
    upload_id: uuid('For `file.upload_id` of one answer.'),
    kind: uploadKind,
    type: text(150, 'Detected from its bytes.', { example: 'application/pdf' }),
    bytes: wholeNumber('Size in bytes.', { example: 48_213 }),
    expires_at: timestamp('It is deleted then, unless it was sent.'),
  }),
  hints: { isReadOnly: false, isDestructive: false, isIdempotent: false },
  example: {
    input: {
      conversation_id: exampleIds.conversation,
      kind: 'document',
      base64: 'JVBERi0xLjcK',
      name: 'invoice.pdf',
    },
    output: {
      upload_id: exampleIds.upload,
      kind: 'document',
      type: 'application/pdf',
      bytes: 9,
      expires_at: '2026-03-02T12:00:00.000Z',
      next: ['Call answer with file: its upload_id, and a caption if you want one.'],
    },
  },
  run: async ({ uploads }, caller, { conversation_id, kind, base64, name = null, type = null }) => {
    const bytes = Buffer.from(base64, 'base64')
    if (bytes.toString('base64').replace(/={1,2}$/, '') !== base64.replace(/={1,2}$/, '')) {
      throw invalid('base64', 'must be the bytes of the file in base64, without line breaks and without data:')
    }
    const uploaded = await uploads.create(caller, {
      ...{ conversationId: conversation_id.toLowerCase(), kind, name, type, seconds: null, waveform: null },
      length: bytes.length,
      bytes: singleChunk(bytes),
    })
    return presentUpload(uploaded)
  },
})

async function* singleChunk(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes
}

export const presentUpload = ({ id, kind, type, bytes, expiresAt }: UploadResult) => ({
  ...{ upload_id: id, kind, type, bytes, expires_at: expiresAt.toISOString() },
  next: ['Call answer with file: its upload_id, and a caption if you want one.'],
})

/** Creates the uploads of agents: limits concurrent uploads, and checks that the caller owns the conversation. */
export function createAgentUploads(inbox: SendDeps, deps: UploadDeps): AgentUploads {
  const withSlot = createFileSlots(uploadSlots)
  return {
    create: async (caller, upload) => {
      const conversation = await loadConversation(inbox, caller, upload.conversationId)
      const { owner } = conversation
      if (owner.type !== 'agent' || owner.keyId !== caller.keyId) throw notOwnerError(conversation)
      const actor = actorOf(caller)
      const reader = { workspaceId: caller.workspaceId, actor }
      return withSlot(reader, () => receiveUpload(deps, scopeOf(caller), actor, upload))
    },
    delete: (caller, conversationId, id) =>
      removeUpload(deps, caller.workspaceId, actorOf(caller), conversationId, id).catch((error: unknown) => {
        if (!(error instanceof ApiError)) throw error
      }),
  }
}
