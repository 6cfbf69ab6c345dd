import type { Readable } from 'node:stream'
import { type Static, Type } from 'typebox'
import { errorResponse, nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { count, cursor, fileText, text, uuid, wholeNumber } from '../../base/schema-types.ts'
import { maxCards, maxPhones } from '../../channels/channel-event.ts'
import { choiceLimits } from '../../channels/interactive-options.ts'
import { idSchema, workspaceParams } from '../../team/team-schema.ts'
import { described, strict } from '../api/schema.ts'
import { downloadType, inlineTypes } from '../media/inspect-file.ts'
import { ShownPrompt } from '../send/prompt-schema.ts'

/** Schemas of message content other than text, for the team API. */

export const mediaKinds = ['image', 'video', 'audio', 'voice', 'document', 'sticker'] as const
export const mediaStates = ['coming', 'here', 'too_large', 'gone', 'refused', 'failed'] as const

export const pixels = (description: string) => nullable(Type.Integer({ minimum: 1, maximum: 1_000_000, description }))

export const TeamMedia = described('TeamMedia', 'File of a message. Download it at `/inbox/media/{id}`.', {
  id: idSchema('File id.'),
  kind: oneOf(mediaKinds, { description: '`voice`: recorded voice note. `audio`: any other audio.' }),
  state: oneOf(mediaStates, {
    description:
      '`coming`: being downloaded. `gone`: deleted on the platform. `refused`: differs from what was announced, or the download is not allowed. `failed`: not downloaded after a week of retries; it can be retried.',
  }),
  failure: nullable(text(60, 'Error code if the file is not available.', { example: 'hash_mismatch' })),
  name: nullable(text(255, 'Safe to display and to use as a file name.', { example: 'invoice-17.pdf' })),
  type: nullable(
    text(150, 'Detected type; the declared type until the file is available.', { example: 'application/pdf' }),
  ),
  bytes: nullable(wholeNumber('Size in bytes; the declared size until the file is available.')),
  width: pixels('Of an image or video, if known.'),
  height: pixels('Of an image or video, if known.'),
  seconds: nullable(Type.Number({ minimum: 0, maximum: 1_000_000, description: 'Duration of audio or video.' })),
  waveform: nullable(
    Type.Array(Type.Integer({ minimum: 0, maximum: 100 }), {
      maxItems: 64,
      description: 'Bar heights of a voice note.',
    }),
  ),
  placeholder: nullable(text(8192, 'Tiny image in base64 (JPEG or WebP) to show while loading.')),
  hasPreview: Type.Boolean({ description: 'Whether a smaller image is available at `…/preview`.' }),
  isInline: Type.Boolean({ description: 'Whether a browser can display or play it; everything else is a download.' }),
  isAnimated: Type.Boolean({ description: 'Whether it is an animated sticker.' }),
})

export const TeamPlace = titled('TeamPlace', {
  latitude: Type.Number({ minimum: -90, maximum: 90 }),
  longitude: Type.Number({ minimum: -180, maximum: 180 }),
  name: nullable(text(1000, 'Name of the place.', { example: 'Central station' })),
  address: nullable(text(1000, 'Street address.', { example: 'Avenida Paulista 1578' })),
  isLive: Type.Boolean({ description: 'Whether it was a live location, which changes later.' }),
})

export const TeamCard = described('TeamCard', 'A contact card.', {
  name: text(1000, 'Name of a person or company.', { example: 'Ana Lima' }),
  organisation: nullable(text(1000, 'Company of the person.')),
  phones: Type.Array(
    Type.Object({
      phone: text(100, 'Digits with country code if known, else as written.', {
        example: '5511987654321',
      }),
      label: nullable(text(100, 'For example `CELL`.')),
    }),
    { maxItems: maxPhones },
  ),
  emails: Type.Array(text(320, 'E-mail address.'), { maxItems: maxPhones }),
})

export const TeamQuoted = described('TeamQuoted', 'Message that this one quotes.', {
  messageId: nullable(uuid('Message id; null if the message is unknown.')),
  direction: nullable(oneOf(['inbound', 'outbound'] as const, { description: 'Direction of the quoted message.' })),
  text: nullable(text(300, 'First 300 characters of its current text.')),
  mediaKind: nullable(oneOf(mediaKinds, { description: 'Kind of its file.' })),
})

export const TeamReaction = titled('TeamReaction', {
  id: idSchema('Message id of the reaction.'),
  emoji: text(100, 'Emoji.', { example: '👍' }),
  direction: oneOf(['inbound', 'outbound'] as const, { description: '`inbound`: from the customer.' }),
  at: timestamp('Time of the reaction.'),
})

const choice = {
  id: text(choiceLimits.id, 'Returned when the customer chooses it.', { example: 'deliver' }),
  title: text(choiceLimits.rowTitle, 'Title of the option.', { example: 'Deliver it' }),
}

export const ShownChoices = described('ShownChoices', 'Interactive options: buttons or a list.', {
  buttons: Type.Optional(Type.Array(Type.Object(choice), { maxItems: choiceLimits.buttons })),
  list: Type.Optional(
    Type.Object({
      button: text(choiceLimits.buttonTitle, 'Text of the button that opens the list.', { example: 'See the times' }),
      rows: Type.Array(
        Type.Object({
          ...choice,
          description: Type.Optional(text(choiceLimits.description, 'Text below the title.', { example: 'With Ana' })),
        }),
        { maxItems: choiceLimits.rows },
      ),
    }),
  ),
  footer: Type.Optional(
    text(choiceLimits.footer, 'Small text below the options.', { example: 'We deliver until 18:00.' }),
  ),
})

/** Fields of a team API message for content other than text. */
export const MessageSources = Type.Array(
  titled('MessageSource', {
    id: idSchema('The article.'),
    version: count('Its version then.'),
    title: text(200, 'Its title then.', { example: 'How do I return something?' }),
  }),
  { maxItems: 5, description: 'Articles that the agent says it used; customers do not see them.' },
)

export const messageDetail = {
  media: nullable(TeamMedia),
  place: nullable(TeamPlace),
  cards: Type.Array(TeamCard, { maxItems: maxCards, description: 'Contact cards.' }),
  quoted: nullable(TeamQuoted),
  choices: nullable(ShownChoices),
  prompt: nullable(ShownPrompt),
  reaction: nullable(
    Type.Object(
      {
        messageId: nullable(uuid('Message reacted to; null if it is unknown.')),
        emoji: text(100, 'Emoji; empty if the reaction was removed.'),
      },
      { description: 'Set if the message is a reaction. Show it on the message reacted to, not as a message.' },
    ),
  ),
  reactions: Type.Array(TeamReaction, {
    maxItems: 20,
    description: 'Current reactions to this message, at most one per side.',
  }),
  isForwarded: Type.Boolean({ description: 'Whether the message was forwarded.' }),
  sources: MessageSources,
  editedAt: nullable(timestamp('When the author last edited it.')),
  withdrawnAt: nullable(timestamp('When the author deleted it.')),
  former: Type.Array(
    Type.Object({ text: text(16_384, 'Former text.'), at: timestamp('Time since which it had this text.') }),
    {
      maxItems: 10,
      description: 'Previous versions, oldest first; empty if the workspace does not keep them.',
    },
  ),
}

export const MediaParams = Type.Object({ ...workspaceParams, mediaId: idSchema('File id.') })

export const FileHeaders = Type.Object({
  range: Type.Optional(
    text(200, 'A single byte range; with several, the whole file is returned.', { example: 'bytes=0-65535' }),
  ),
  'if-range': Type.Optional(text(200, 'Applies the range only if this is the current ETag.')),
  'if-none-match': Type.Optional(text(4096, 'Returns 304 if one of these is the current ETag.')),
})

const fileContent = { schema: Type.String(fileText) }
const bytesOf = (description: string) =>
  Type.Unsafe<Readable>({
    description,
    content: Object.fromEntries([...inlineTypes, downloadType].map((type) => [type, fileContent])),
  })

/** Responses of a file download, with the file's own content type. */
export const fileResponses = {
  200: bytesOf('The file. Its `Content-Type` is the detected type if a browser can display it.'),
  206: bytesOf('The requested range.'),
  304: Type.Null({ description: 'The file has not changed.' }),
  416: errorResponse(
    'RangeNotSatisfiable',
    416,
    'The range is beyond the end of the file; `Content-Range` gives its size.',
    'Range not satisfiable',
  ),
}

export const RetryResult = titled('MediaRetried', {
  state: oneOf(mediaStates, { description: 'Current state of the file.', example: 'coming' }),
})

export const GalleryQuery = strict({
  kinds: Type.Optional(
    Type.String({
      pattern: '^[a-z,]{1,60}$',
      maxLength: 60,
      description: 'One or more kinds, separated by commas.',
      example: 'image,video',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
  cursor: Type.Optional(cursor('`next` of the previous page.')),
})
export type GalleryQuery = Static<typeof GalleryQuery>

const direction = oneOf(['inbound', 'outbound'] as const, { description: '`inbound`: from the customer.' })

const GalleryItem = titled('GalleryItem', {
  messageId: idSchema('Message with the file.'),
  at: timestamp('Time of the message.'),
  direction,
  media: TeamMedia,
})

export const Gallery = titled('Gallery', {
  items: Type.Array(GalleryItem, { maxItems: 100, description: 'Newest first.' }),
  next: Type.Union([cursor('Value for `cursor`; null at the end.'), Type.Null()]),
})

const kind = oneOf(mediaKinds, { description: 'Kind to send the file as.', example: 'image' })

export const UploadLimits = titled('UploadLimits', {
  kinds: Type.Array(
    titled('UploadLimit', {
      kind,
      bytes: wholeNumber('Maximum size of a file of this kind, in bytes.', { example: 5_242_880 }),
      types: Type.Array(text(150, 'Accepted type, detected from the content.', { example: 'image/jpeg' }), {
        maxItems: 50,
      }),
    }),
    { maxItems: mediaKinds.length, description: 'Kinds that the channel accepts; others cannot be sent.' },
  ),
  captionLength: wholeNumber('Maximum caption length in characters; 0 if captions are not supported.', {
    example: 1024,
  }),
  canReact: Type.Boolean({ description: 'Whether reactions can be sent.' }),
  canQuote: Type.Boolean({ description: 'Whether messages can be quoted.' }),
})

export const UploadQuery = strict({
  kind,
  name: Type.Optional(text(1000, 'File name; stored in a form that is safe to display.', { example: 'quote.pdf' })),
  type: Type.Optional(
    text(200, 'Type for formats that cannot be detected, such as text; otherwise the content decides.', {
      example: 'application/pdf',
    }),
  ),
  seconds: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1_000_000, description: 'Duration of audio or video.', example: 12 }),
  ),
  waveform: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,3}(?:,[0-9]{1,3}){0,63}$',
      maxLength: 255,
      description: 'Bar heights of a voice note: up to 64 numbers from 0 to 100, separated by commas.',
      example: '0,40,100,20',
    }),
  ),
})
export type UploadQuery = Static<typeof UploadQuery>

export const Upload = titled('Upload', {
  id: idSchema('Upload id, for `upload_id` of a send.'),
  kind,
  name: nullable(text(255, 'Safe to display.', { example: 'quote.pdf' })),
  type: text(150, 'Detected type.', { example: 'application/pdf' }),
  bytes: wholeNumber('Size in bytes.', { example: 48_213 }),
  width: pixels('Of an image, if known.'),
  height: pixels('Of an image, if known.'),
  expiresAt: timestamp('When the upload is deleted unless it was sent.'),
})

export const uploadTooLarge = errorResponse(
  'UploadTooLarge',
  413,
  'The file is larger than the channel accepts for this kind; `data.maxBytes` is the limit.',
  'Files of this kind can have at most 5242880 bytes. Send a smaller file, or send it as a document.',
  { code: 'FILE_TOO_LARGE', maxBytes: 5_242_880 },
)

export const uploadTypeRefused = errorResponse(
  'UploadTypeRefused',
  415,
  'The channel does not accept the detected type for this kind; `data.types` lists the accepted ones.',
  'The channel accepts only image/jpeg, image/png as image. Send another file, or send it as a document.',
  { code: 'FILE_TYPE_REFUSED', types: ['image/jpeg', 'image/png'] },
)

export const uploadLimitReached = errorResponse(
  'UploadLimitReached',
  409,
  '`TOO_MANY_UPLOADS`: the caller has 20 unsent uploads. `NO_ROOM`: unsent uploads of the workspace take up 2 GiB.',
  'You have 20 unsent uploads. Send or remove some of them first.',
  { code: 'TOO_MANY_UPLOADS' },
)

export const UploadParams = Type.Object({
  ...workspaceParams,
  id: idSchema('Conversation id.'),
  uploadId: idSchema('Upload id.'),
})
