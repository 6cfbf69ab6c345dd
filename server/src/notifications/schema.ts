import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { count, cursor, page, text } from '../base/schema-types.ts'
import { weekdays } from '../team/opening-hours.ts'
import { closed, idSchema } from '../team/team-schema.ts'
import { type deliveryMethods, notificationKinds, notificationTones } from './notification-kinds.ts'
import { pushLanguages } from './push/push-texts.ts'

const kind = oneOf(notificationKinds, {
  description:
    '`mention`: a note names me. `assigned`: a conversation was given to me. `handover`: an agent hands a conversation to me or to the team. `waiting`: a customer waits for longer than the workspace wants. `connection`: a connection is down, or cannot send everything.',
  example: 'mention',
})

export const unread = count('How many are unread, of all.', { example: 2 })

const NotificationSchema = titled('Notice', {
  id: idSchema('The notice.'),
  kind,
  count: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    description: 'How many conversations it stands for. With more than one it names none.',
    example: 1,
  }),
  actor: Type.Union([
    titled('NoticeActor', {
      type: oneOf(['agent', 'user', 'token'] as const, { example: 'user' }),
      id: idSchema('The key, person or token.'),
      name: nullable(text(200, 'Null for one that is no more.', { example: 'Ana Lima' })),
    }),
    Type.Null({ description: 'Nobody did it.' }),
  ]),
  conversation: Type.Union([
    titled('NoticeConversation', {
      id: idSchema('The conversation.'),
      name: nullable(text(500, 'As the customer calls themselves.', { example: 'Marina Souza' })),
      phone: nullable(text(40, 'Digits with country code.', { example: '5511987654321' })),
    }),
    Type.Null(),
  ]),
  connection: Type.Union([
    titled('NoticeConnection', {
      id: idSchema('The connection.'),
      name: nullable(text(200, 'As the team calls it.', { example: 'Sales' })),
    }),
    Type.Null(),
  ]),
  reason: nullable(
    text(200, 'What it is about a connection, as in its `holds`; null where it is down.', {
      example: 'platform_error_131042',
    }),
  ),
  createdAt: timestamp('When it was told.'),
  readAt: nullable(timestamp('When it was read.')),
})

export const NotificationsQuery = Type.Object(
  {
    unread: Type.Optional(Type.Boolean({ description: 'Only those not read.' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 30 })),
    cursor: Type.Optional(cursor('From the page before.')),
  },
  closed,
)

export const NotificationsPage = Type.Object({
  notices: Type.Array(NotificationSchema, page),
  unread,
  quiet: Type.Boolean({ description: 'Whether it is quiet by my settings at this moment.', example: false }),
  cursor: nullable(cursor('For the next page.')),
})

export const MarkReadBody = Type.Object(
  {
    ids: Type.Optional(Type.Array(idSchema('A notice.'), { maxItems: 100, description: 'Only these.' })),
    conversationId: Type.Optional(idSchema('Only those that tell of this conversation.')),
  },
  closed,
)

const flags = (descriptions: Record<string, string>) =>
  Object.fromEntries(Object.entries(descriptions).map(([name, description]) => [name, Type.Boolean({ description })]))

const PreferencesOfKind = Type.Object(
  flags({
    bell: 'Told at all: the others are beside it.',
    sound: 'A page that is open makes a sound.',
    browser: 'A page that is open and not looked at has the browser show it.',
    push: 'The browsers that subscribed show it while no page is open.',
  }) as Record<(typeof deliveryMethods)[number], ReturnType<typeof Type.Boolean>>,
  { ...closed, title: 'NoticeWays' },
)

const ways = Type.Object(
  Object.fromEntries(notificationKinds.map((one) => [one, PreferencesOfKind])) as Record<
    (typeof notificationKinds)[number],
    typeof PreferencesOfKind
  >,
  { ...closed, title: 'NoticeWaysByKind' },
)

const timeOfDay = (description: string, example: string) =>
  Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', maxLength: 5, description, example })

const quiet = Type.Union([
  Type.Object(
    {
      timeZone: Type.String({ minLength: 1, maxLength: 64, description: 'IANA.', example: 'America/Sao_Paulo' }),
      from: timeOfDay('When it begins.', '22:00'),
      to: timeOfDay('When it ends, on the next day where that is earlier.', '07:00'),
      days: Type.Array(oneOf(weekdays), {
        maxItems: 7,
        uniqueItems: true,
        description: 'Quiet from midnight to midnight.',
        example: ['sunday'],
      }),
    },
    { ...closed, title: 'QuietHours', description: 'No sound, no pop-up and no push; the bell fills all the same.' },
  ),
  Type.Null(),
])

const pushNames = Type.Boolean({
  description:
    "Whether a push shows the customer's name. It is sealed for the browser alone, but a locked screen may show it. What the customer wrote is never in it.",
  example: false,
})

const tone = Type.Optional(
  oneOf(notificationTones, {
    description: 'With what a page sounds. Left out of a change, it stays.',
    example: 'chime',
  }),
)

export const NotificationSettingsBody = Type.Object(
  { ways, quiet, pushNames, tone },
  { ...closed, title: 'NoticeSettings' },
)
export type NotificationSettingsBody = Static<typeof NotificationSettingsBody>

export const NotificationSettingsAnswer = Type.Object({
  settings: NotificationSettingsBody,
  pushKey: text(200, 'What a browser subscribes with (VAPID), base64url.'),
})

export const NewSubscription = Type.Object(
  {
    endpoint: Type.String({ minLength: 1, maxLength: 2000, description: 'Where the push service takes what is sent.' }),
    p256dh: Type.String({ pattern: '^[A-Za-z0-9_-]{87}=?$', maxLength: 88, description: "The browser's public key." }),
    auth: Type.String({ pattern: '^[A-Za-z0-9_-]{22}(==)?$', maxLength: 24, description: "The browser's secret." }),
    language: oneOf(pushLanguages, { description: 'In which it is told.', example: 'en' }),
  },
  { ...closed, title: 'NewPushSubscription' },
)
