import { Type } from 'typebox'
import { nullable, oneOf, timestamp } from '../../base/route.ts'
import { text, uuid, wholeNumber } from '../../base/schema-types.ts'
import { maxCards, maxPhones } from '../../channels/channel-event.ts'
import { choiceLimits } from '../../channels/choices.ts'
import { idSchema } from '../../team/team-schema.ts'

/** What a message is beside its words, as the team's interface shows it. */

export const mediaKinds = ['image', 'video', 'audio', 'voice', 'document', 'sticker'] as const
export const mediaStates = ['coming', 'here', 'too_large', 'gone', 'refused', 'failed'] as const

const pixels = (description: string) => nullable(Type.Integer({ minimum: 1, maximum: 1_000_000, description }))

export const TeamMedia = Type.Object(
  {
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
  },
  { title: 'TeamMedia', description: 'A file of a message. Its bytes are at `/inbox/media/{id}`.' },
)

export const TeamPlace = Type.Object(
  {
    latitude: Type.Number({ minimum: -90, maximum: 90 }),
    longitude: Type.Number({ minimum: -180, maximum: 180 }),
    name: nullable(text(1000, 'What it is called.', { example: 'Central station' })),
    address: nullable(text(1000, 'Its street.', { example: 'Avenida Paulista 1578' })),
    isLive: Type.Boolean({ description: 'It moved on after this.' }),
  },
  { title: 'TeamPlace' },
)

export const TeamCard = Type.Object(
  {
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
  },
  { title: 'TeamCard', description: 'A contact card.' },
)

export const TeamQuoted = Type.Object(
  {
    messageId: nullable(uuid('The message here; null when it is not known here.')),
    direction: nullable(oneOf(['inbound', 'outbound'] as const, { description: 'Of that message.' })),
    text: nullable(text(300, 'Its first 300 characters, as it is now.')),
    mediaKind: nullable(oneOf(mediaKinds, { description: 'Of its file.' })),
  },
  { title: 'TeamQuoted', description: 'The message that this one answers to.' },
)

export const TeamReaction = Type.Object(
  {
    id: idSchema('The message that the reaction is.'),
    emoji: text(100, 'What was chosen.', { example: '👍' }),
    direction: oneOf(['inbound', 'outbound'] as const, { description: '`inbound`: the customer’s.' }),
    at: timestamp('When.'),
  },
  { title: 'TeamReaction' },
)

const choice = {
  id: text(choiceLimits.id, 'Comes back when it is chosen.', { example: 'deliver' }),
  title: text(choiceLimits.rowTitle, 'What it says.', { example: 'Deliver it' }),
}

export const ShownChoices = Type.Object(
  {
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
  },
  { title: 'ShownChoices', description: 'What it offers to choose from: buttons or a list.' },
)

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
