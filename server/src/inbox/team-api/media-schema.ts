import type { Readable } from 'node:stream'
import { type Static, Type } from 'typebox'
import { errorAnswer, nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { cursor, fileText, text, uuid, wholeNumber } from '../../base/schema-types.ts'
import { maxCards, maxPhones } from '../../channels/channel-event.ts'
import { choiceLimits } from '../../channels/interactive-options.ts'
import { idSchema, workspaceParams } from '../../team/team-schema.ts'
import { described, strict } from '../api/schema.ts'
import { downloadType, inlineTypes } from '../media/inspect-file.ts'

/** What a message is beside its words, as the team's interface shows it. */

export const mediaKinds = ['image', 'video', 'audio', 'voice', 'document', 'sticker'] as const
export const mediaStates = ['coming', 'here', 'too_large', 'gone', 'refused', 'failed'] as const

export const pixels = (description: string) => nullable(Type.Integer({ minimum: 1, maximum: 1_000_000, description }))

export const TeamMedia = described('TeamMedia', 'A file of a message. Its bytes are at `/inbox/media/{id}`.', {
  id: idSchema('The file.'),
  kind: oneOf(mediaKinds, { description: '`voice` was spoken into the app; `audio` is any other sound.' }),
  state: oneOf(mediaStates, {
    description:
      '`coming`: it is being fetched. `gone`: the platform has it no more. `refused`: it is not what was told, or nobody may fetch it. `failed`: a week of tries did not bring it; it can be tried again.',
  }),
  failure: nullable(text(60, 'Why it is not here, in a word to look up.', { example: 'hash_mismatch' })),
  name: nullable(text(255, 'Safe to show and to save under.', { example: 'invoice-17.pdf' })),
  type: nullable(text(150, 'By its bytes; as declared while it is not here.', { example: 'application/pdf' })),
  bytes: nullable(wholeNumber('Its size; as declared while it is not here.')),
  width: pixels('Of a picture or video, where it is known.'),
  height: pixels('Of a picture or video, where it is known.'),
  seconds: nullable(Type.Number({ minimum: 0, maximum: 1_000_000, description: 'Of a sound or video.' })),
  waveform: nullable(
    Type.Array(Type.Integer({ minimum: 0, maximum: 100 }), { maxItems: 64, description: 'Heights of a voice note.' }),
  ),
  placeholder: nullable(text(8192, 'A tiny picture in base64 (JPEG or WebP) for the time until it has loaded.')),
  hasPreview: Type.Boolean({ description: 'A smaller picture can be loaded from `…/preview`.' }),
  isInline: Type.Boolean({ description: 'A browser may show or play it; everything else is a download.' }),
  isAnimated: Type.Boolean({ description: 'A sticker that moves.' }),
})

export const TeamPlace = titled('TeamPlace', {
  latitude: Type.Number({ minimum: -90, maximum: 90 }),
  longitude: Type.Number({ minimum: -180, maximum: 180 }),
  name: nullable(text(1000, 'What it is called.', { example: 'Central station' })),
  address: nullable(text(1000, 'Its street.', { example: 'Avenida Paulista 1578' })),
  isLive: Type.Boolean({ description: 'It moved on after this.' }),
})

export const TeamCard = described('TeamCard', 'A contact card.', {
  name: text(1000, 'Of a person or company.', { example: 'Ana Lima' }),
  organisation: nullable(text(1000, 'Where they work.')),
  phones: Type.Array(
    Type.Object({
      phone: text(100, 'Digits with country code where they are known, else as written.', {
        example: '5511987654321',
      }),
      label: nullable(text(100, 'As `CELL`.')),
    }),
    { maxItems: maxPhones },
  ),
  emails: Type.Array(text(320, 'An e-mail address.'), { maxItems: maxPhones }),
})

export const TeamQuoted = described('TeamQuoted', 'The message that this one answers to.', {
  messageId: nullable(uuid('The message here; null when it is not known here.')),
  direction: nullable(oneOf(['inbound', 'outbound'] as const, { description: 'Of that message.' })),
  text: nullable(text(300, 'Its first 300 characters, as it is now.')),
  mediaKind: nullable(oneOf(mediaKinds, { description: 'Of its file.' })),
})

export const TeamReaction = titled('TeamReaction', {
  id: idSchema('The message that the reaction is.'),
  emoji: text(100, 'What was chosen.', { example: '👍' }),
  direction: oneOf(['inbound', 'outbound'] as const, { description: '`inbound`: the customer’s.' }),
  at: timestamp('When.'),
})

const choice = {
  id: text(choiceLimits.id, 'Comes back when it is chosen.', { example: 'deliver' }),
  title: text(choiceLimits.rowTitle, 'What it says.', { example: 'Deliver it' }),
}

export const ShownChoices = described('ShownChoices', 'What it offers to choose from: buttons or a list.', {
  buttons: Type.Optional(Type.Array(Type.Object(choice), { maxItems: choiceLimits.buttons })),
  list: Type.Optional(
    Type.Object({
      button: text(choiceLimits.buttonTitle, 'What the button says that opens it.', { example: 'See the times' }),
      rows: Type.Array(
        Type.Object({
          ...choice,
          description: Type.Optional(text(choiceLimits.description, 'Stands below.', { example: 'With Ana' })),
        }),
        { maxItems: choiceLimits.rows },
      ),
    }),
  ),
  footer: Type.Optional(text(choiceLimits.footer, 'Small words below.', { example: 'We deliver until 18:00.' })),
})

/** The properties of a message of the team's interface beside its words. */
export const messageDetail = {
  media: nullable(TeamMedia),
  place: nullable(TeamPlace),
  cards: Type.Array(TeamCard, { maxItems: maxCards, description: 'Contact cards.' }),
  quoted: nullable(TeamQuoted),
  choices: nullable(ShownChoices),
  reaction: nullable(
    Type.Object(
      {
        messageId: nullable(uuid('The message that it is about; null when it is not known here.')),
        emoji: text(100, 'What was chosen; empty when it was taken back.'),
      },
      { description: 'The message is a reaction: a page shows it on the message that it is about, not by itself.' },
    ),
  ),
  reactions: Type.Array(TeamReaction, {
    maxItems: 20,
    description: 'Those to this message that stand, one of each side at most.',
  }),
  isForwarded: Type.Boolean({ description: 'Passed on from elsewhere.' }),
  editedAt: nullable(timestamp('When its author last changed it.')),
  withdrawnAt: nullable(timestamp('When its author took it back.')),
  former: Type.Array(Type.Object({ text: text(16_384, 'What it said.'), at: timestamp('Since when.') }), {
    maxItems: 10,
    description: 'What it said before, oldest first; empty where the workspace does not keep it.',
  }),
}

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

export const GalleryQuery = strict({
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
})
export type GalleryQuery = Static<typeof GalleryQuery>

const direction = oneOf(['inbound', 'outbound'] as const, { description: '`inbound`: the customer’s.' })

const GalleryItem = titled('GalleryItem', {
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

export const UploadQuery = strict({
  kind,
  name: Type.Optional(text(1000, 'What it is called; kept in a form that is safe to show.', { example: 'quote.pdf' })),
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
})
export type UploadQuery = Static<typeof UploadQuery>

export const Upload = titled('Upload', {
  id: idSchema('The upload, for `upload_id` of a send.'),
  kind,
  name: nullable(text(255, 'Safe to show.', { example: 'quote.pdf' })),
  type: text(150, 'By its bytes.', { example: 'application/pdf' }),
  bytes: wholeNumber('Its size.', { example: 48_213 }),
  width: pixels('Of a picture, if it is known.'),
  height: pixels('Of a picture, if it is known.'),
  expiresAt: timestamp('When it is removed, unless a message has taken it.'),
})

export const uploadTooLarge = errorAnswer(
  'UploadTooLarge',
  413,
  'More bytes than the channel takes of this kind; `data.maxBytes` says how many it takes.',
  'Files of this kind can have at most 5242880 bytes. Send a smaller file, or send it as a document.',
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
  'You have 20 unsent uploads. Send or remove some of them first.',
  { code: 'TOO_MANY_UPLOADS' },
)

export const UploadParams = Type.Object({
  ...workspaceParams,
  id: idSchema('The conversation.'),
  uploadId: idSchema('The upload.'),
})
