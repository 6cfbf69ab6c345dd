import type { Readable } from 'node:stream'
import { type Static, Type } from 'typebox'
import { errorAnswer, nullable, oneOf, timestamp, titled } from '../../../base/route.ts'
import { cursor, fileText, text, wholeNumber } from '../../../base/schema-types.ts'
import { closed, idSchema, workspaceParams } from '../../../team/team-schema.ts'
import { downloadType, inlineTypes } from '../../media/inline-types.ts'
import { mediaKinds, mediaStates, TeamMedia } from '../media-schema.ts'

/** Files of messages, and those that the team is about to send. */

export const MediaParams = Type.Object({ ...workspaceParams, mediaId: idSchema('The file.') })

export const FileHeaders = Type.Object({
  range: Type.Optional(text(200, 'One range of bytes; several are answered whole.', { example: 'bytes=0-65535' })),
  'if-range': Type.Optional(text(200, 'The range counts only while this is the ETag.')),
  'if-none-match': Type.Optional(text(4096, 'Answered 304 while one of these is the ETag.')),
})

const shown = { schema: Type.String(fileText) }
const bytesOf = (description: string) =>
  Type.Unsafe<Readable>({
    description,
    content: Object.fromEntries([...inlineTypes, downloadType].map((type) => [type, shown])),
  })

/** Of a file; its type is the file's own. */
export const fileAnswers = {
  200: bytesOf('The file. Its `Content-Type` is what its bytes say, where a browser may show it.'),
  206: bytesOf('The range of it that was asked for.'),
  304: Type.Null({ description: 'It is the one that the caller has.' }),
  416: errorAnswer(
    'RangeNotSatisfiable',
    416,
    'The range is beyond the end; `Content-Range` says how long the file is.',
    'The file has no such range',
  ),
}

export const Retried = titled('MediaRetried', {
  state: oneOf(mediaStates, { description: 'Where the file stands now.', example: 'coming' }),
})

export const GalleryQuery = Type.Object(
  {
    kinds: Type.Optional(
      Type.String({
        pattern: '^[a-z,]{1,60}$',
        maxLength: 60,
        description: 'One kind, or several with commas.',
        example: 'image,video',
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
    cursor: Type.Optional(cursor('The `next` of the page before.')),
  },
  closed,
)
export type GalleryQuery = Static<typeof GalleryQuery>

const direction = oneOf(['inbound', 'outbound'] as const, { description: '`inbound`: the customer’s.' })

export const GalleryItem = titled('GalleryItem', {
  messageId: idSchema('The message that carries the file.'),
  at: timestamp('When it came or went.'),
  direction,
  media: TeamMedia,
})

export const Gallery = titled('Gallery', {
  items: Type.Array(GalleryItem, { maxItems: 100, description: 'Newest first.' }),
  next: Type.Union([cursor('For `cursor`; null at the end.'), Type.Null()]),
})

const kind = oneOf(mediaKinds, { description: 'As what it is to be sent.', example: 'image' })

export const UploadLimits = titled('UploadLimits', {
  kinds: Type.Array(
    titled('UploadLimit', {
      kind,
      bytes: wholeNumber('The most that a file of the kind may have.', { example: 5_242_880 }),
      types: Type.Array(text(150, 'A type by its bytes.', { example: 'image/jpeg' }), { maxItems: 50 }),
    }),
    { maxItems: mediaKinds.length, description: 'What the channel takes; a kind that is not here cannot be sent.' },
  ),
  captionLength: wholeNumber('Characters that may go with a file; 0 where it takes none.', { example: 1024 }),
  canReact: Type.Boolean({ description: 'Messages can be reacted to.' }),
  canQuote: Type.Boolean({ description: 'Messages can be answered to by quoting.' }),
})

export const UploadQuery = Type.Object(
  {
    kind,
    name: Type.Optional(
      text(1000, 'What it is called; kept in a form that is safe to show.', { example: 'quote.pdf' }),
    ),
    type: Type.Optional(
      text(200, 'Its type where the bytes do not tell, as for text; else the bytes decide.', {
        example: 'application/pdf',
      }),
    ),
    seconds: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1_000_000, description: 'Of a sound or video.', example: 12 }),
    ),
    waveform: Type.Optional(
      Type.String({
        pattern: '^[0-9]{1,3}(?:,[0-9]{1,3}){0,63}$',
        maxLength: 255,
        description: 'Of a voice note: up to 64 heights of 0–100, with commas.',
        example: '0,40,100,20',
      }),
    ),
  },
  closed,
)
export type UploadQuery = Static<typeof UploadQuery>

const pixels = nullable(Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Of a picture, if it is known.' }))

export const Upload = titled('Upload', {
  id: idSchema('The upload, for `upload_id` of a send.'),
  kind,
  name: nullable(text(255, 'Safe to show.', { example: 'quote.pdf' })),
  type: text(150, 'By its bytes.', { example: 'application/pdf' }),
  bytes: wholeNumber('Its size.', { example: 48_213 }),
  width: pixels,
  height: pixels,
  expiresAt: timestamp('When it is removed, unless a message has taken it.'),
})

export const uploadTooLarge = errorAnswer(
  'UploadTooLarge',
  413,
  'More bytes than the channel takes of this kind; `data.maxBytes` says how many it takes.',
  'A file of this kind may have at most 5242880 bytes here. Send a smaller one, or send it as a document.',
  { code: 'FILE_TOO_LARGE', maxBytes: 5_242_880 },
)

export const uploadTypeRefused = errorAnswer(
  'UploadTypeRefused',
  415,
  'The bytes are of no type that the channel takes for this kind; `data.types` lists those.',
  'The channel takes image/jpeg or image/png as an image. Send another file, or send it as a document.',
  { code: 'FILE_TYPE_REFUSED', types: ['image/jpeg', 'image/png'] },
)

export const uploadLimitReached = errorAnswer(
  'UploadLimitReached',
  409,
  '`TOO_MANY_UPLOADS`: the caller has 20 that no message has taken. `NO_ROOM`: those of the workspace take 2 GiB.',
  'You have 20 uploads that no message has taken. Send or remove some of them first.',
  { code: 'TOO_MANY_UPLOADS' },
)

export const UploadParams = Type.Object({
  ...workspaceParams,
  id: idSchema('The conversation.'),
  uploadId: idSchema('The upload.'),
})
