import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { count, cursor, page, text } from '../base/schema-types.ts'
import { languages } from '../base/text/languages.ts'
import { weekdays } from '../team/opening-hours.ts'
import { closed, idSchema } from '../team/team-schema.ts'
import { notificationKinds, notificationTones } from './notification-kinds.ts'

const kind = oneOf(notificationKinds, {
  description:
    '`mention`: a note mentions me. `assigned`: a conversation was assigned to me. `handover`: an agent handed over a conversation to me or the team. `draft`: an agent proposed an answer that I or the team must approve. `waiting`: a customer has waited longer than the workspace’s limit. `connection`: a connection is down or limited. `budget`: a budget is nearly or completely used up. `task`: a task is due. `scheduled`: a message that was to be sent later was not. `silence`: a customer has not written as long as I asked to be reminded. `broadcast`: a broadcast has paused by itself.',
  example: 'mention',
})

export const unread = count('Number of unread notifications.', { example: 2 })

const NotificationSchema = titled('Notice', {
  id: idSchema('The notification.'),
  kind,
  count: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    description: 'Number of conversations. If more than one, `conversation` is null.',
    example: 1,
  }),
  actor: Type.Union([
    titled('NoticeActor', {
      type: oneOf(['agent', 'user', 'token'] as const, { example: 'user' }),
      id: idSchema('The key, person or token.'),
      name: nullable(text(200, 'Null if it no longer exists.', { example: 'Ana Lima' })),
    }),
    Type.Null({ description: 'Caused by the system.' }),
  ]),
  conversation: Type.Union([
    titled('NoticeConversation', {
      id: idSchema('The conversation.'),
      name: nullable(text(500, 'Profile name of the customer.', { example: 'Marina Souza' })),
      phone: nullable(text(40, 'Digits with country code.', { example: '5511987654321' })),
    }),
    Type.Null(),
  ]),
  connection: Type.Union([
    titled('NoticeConnection', {
      id: idSchema('The connection.'),
      name: nullable(text(200, 'Its name in the team.', { example: 'Sales' })),
    }),
    Type.Null(),
  ]),
  reason: nullable(
    text(
      200,
      'Problem of the connection, as in its `holds`; null if it is down. Of a budget `warned` (80 % is used) or `reached`. Of a scheduled message the code of the error. Of a broadcast why it has paused.',
      { example: 'platform_error_131042' },
    ),
  ),
  createdAt: timestamp('Creation time.'),
  readAt: nullable(timestamp('Time when it was read.')),
})

export const NotificationsQuery = Type.Object(
  {
    unread: Type.Optional(Type.Boolean({ description: 'Only unread ones.' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 30 })),
    cursor: Type.Optional(cursor('From the previous page.')),
  },
  closed,
)

export const NotificationsPage = Type.Object({
  notices: Type.Array(NotificationSchema, page),
  unread,
  quiet: Type.Boolean({ description: 'Whether my quiet hours apply now.', example: false }),
  cursor: nullable(cursor('For the next page.')),
})

export const MarkReadBody = Type.Object(
  {
    ids: Type.Optional(Type.Array(idSchema('A notification.'), { maxItems: 100, description: 'Only these.' })),
    conversationId: Type.Optional(idSchema('Only those of this conversation.')),
  },
  closed,
)

const PreferencesOfKind = Type.Object(
  {
    bell: Type.Boolean({ description: 'Record it; required for the others.' }),
    sound: Type.Boolean({ description: 'Play a sound on open pages.' }),
    browser: Type.Boolean({ description: 'Show a browser notification if a page is open in the background.' }),
    push: Type.Boolean({ description: 'Push to subscribed browsers while no page is open.' }),
    mail: Type.Optional(Type.Boolean({ description: 'Mail it if it is still unread after five minutes.' })),
  },
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

const zone = Type.String({ minLength: 1, maxLength: 64, description: 'IANA time zone.', example: 'America/Sao_Paulo' })

const quiet = Type.Union([
  Type.Object(
    {
      timeZone: zone,
      from: timeOfDay('Start.', '22:00'),
      to: timeOfDay('End; on the next day if earlier than `from`.', '07:00'),
      days: Type.Array(oneOf(weekdays), {
        maxItems: 7,
        uniqueItems: true,
        description: 'Days that are quiet all day.',
        example: ['sunday'],
      }),
    },
    {
      ...closed,
      title: 'QuietHours',
      description: 'Times without sound, pop-up, push and mail. Notifications are still recorded.',
    },
  ),
  Type.Null(),
])

const digest = Type.Optional(
  Type.Union(
    [
      Type.Object(
        { timeZone: zone, time: timeOfDay('When it is sent.', '08:00') },
        { ...closed, title: 'NoticeDigest' },
      ),
      Type.Null(),
    ],
    {
      description:
        'A daily mail with numbers and links: unread notifications, waiting customers, open conversations. Not sent on quiet days, or if there is nothing. Null: none. Omit it to keep the current setting.',
    },
  ),
)

const pushNames = Type.Boolean({
  description:
    "Whether a push shows the customer's name. It is end-to-end encrypted for the browser, but a lock screen can show it. A push never contains message text.",
  example: false,
})

const tone = Type.Optional(
  oneOf(notificationTones, {
    description: 'Sound of open pages. Omit it to keep the current one.',
    example: 'chime',
  }),
)

export const NotificationSettingsBody = Type.Object(
  { ways, quiet, pushNames, tone, digest },
  { ...closed, title: 'NoticeSettings' },
)
export type NotificationSettingsBody = Static<typeof NotificationSettingsBody>

export const NotificationSettingsAnswer = Type.Object({
  settings: NotificationSettingsBody,
  pushKey: text(200, 'VAPID public key for browsers, base64url.'),
})

export const NewSubscription = Type.Object(
  {
    endpoint: Type.String({ minLength: 1, maxLength: 2000, description: 'URL of the push service.' }),
    p256dh: Type.String({ pattern: '^[A-Za-z0-9_-]{87}=?$', maxLength: 88, description: 'Public key of the browser.' }),
    auth: Type.String({
      pattern: '^[A-Za-z0-9_-]{22}(==)?$',
      maxLength: 24,
      description: 'Auth secret of the browser.',
    }),
    language: oneOf(languages, { description: 'Language of push texts.', example: 'en' }),
  },
  { ...closed, title: 'NewPushSubscription' },
)
