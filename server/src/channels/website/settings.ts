import { randomBytes } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { invalid } from '../../base/errors.ts'
import { maxPhoneLength, parsePhone } from '../../base/phone/phone.ts'
import { nullable, oneOf, timestamp } from '../../base/route.ts'
import { text, visiblePattern } from '../../base/schema-types.ts'
import { closed } from '../../team/team-schema.ts'
import { name } from '../connection/fields.ts'

const widgetLanguages = ['en', 'pt', 'es'] as const

/** Whether a visitor is asked for something before the chat starts. */
const askings = ['off', 'optional', 'required'] as const
const asking = (what: string) => oneOf(askings, { description: `Whether visitors are asked for their ${what}.` })

const greeting = (language: string) => Type.Optional(text(300, `What the widget says first, in ${language}.`))

const maxOrigins = 20

const fields = {
  title: Type.String({
    minLength: 1,
    maxLength: 60,
    pattern: visiblePattern,
    description: 'Name of the team as visitors see it.',
    example: 'Acme Store',
  }),
  color: Type.String({
    pattern: '^#[0-9a-f]{6}$',
    maxLength: 7,
    description: 'Accent color of the widget.',
    example: '#2f6f5e',
  }),
  language: oneOf(widgetLanguages, { description: 'Language for pages in none of the three languages.' }),
  greeting: Type.Object(
    { en: greeting('English'), pt: greeting('Portuguese'), es: greeting('Spanish') },
    { ...closed, title: 'WidgetGreeting' },
  ),
  fields: Type.Object(
    { name: asking('name'), email: asking('e-mail'), phone: asking('phone') },
    { ...closed, title: 'WidgetFields' },
  ),
  origins: Type.Array(text(300, 'Such as `https://www.example.com`.', { example: 'https://example.com' }), {
    maxItems: maxOrigins,
    uniqueItems: true,
    description: 'Origins of the sites that may embed the widget.',
  }),
  whatsapp: nullable(
    text(
      maxPhoneLength,
      'Number to which the widget links for going on in WhatsApp, with country code; null: no link.',
      {
        example: '15550783881',
      },
    ),
  ),
}

/** What an admin chooses for a widget; all of it has a default. */
export const widgetChangesSchema = Type.Partial(Type.Object(fields), {
  ...closed,
  title: 'WidgetChanges',
  description: 'Only for `website`.',
})
type WidgetChanges = Static<typeof widgetChangesSchema>
type Widget = Required<WidgetChanges>

export interface WebsiteSettings extends Widget {
  /** There is no platform to call. */
  baseUrl: null
  /** Signs the identities of signed-in visitors; null: the site identifies nobody. */
  identitySecret: string | null
  /** Still accepted until then, so that a site can replace it without an interruption. */
  previousSecret: { secret: string; until: string } | null
}

/** A widget as admins see it. */
export const widgetSchema = Type.Unsafe<(Widget & { scriptUrl: string; hasIdentitySecret: boolean }) | null>({
  type: ['object', 'null'],
  title: 'Widget',
  description: 'Settings of the chat widget. Only for `website`; null otherwise.',
  properties: {
    ...fields,
    scriptUrl: text(2000, 'The script that a page loads to show the widget.'),
    hasIdentitySecret: Type.Boolean({
      description: 'Whether there is a secret with which the site identifies visitors.',
    }),
  },
  required: [...Object.keys(fields), 'scriptUrl', 'hasIdentitySecret'],
})

export const identitySecretSchema = Type.Object({
  secret: text(100, 'Signs tokens of signed-in visitors (JWT, HS256). It is not returned again.'),
  previousUntil: nullable(timestamp('Until when the previous secret is still accepted; null: there was none.')),
})

export const newWebsiteSchema = Type.Object(
  {
    channel: oneOf(['website'] as const, { description: 'A chat widget on a website.' }),
    name,
    widget: Type.Optional(widgetChangesSchema),
  },
  { ...closed, title: 'NewWebsiteConnection' },
)
export type NewWebsite = Static<typeof newWebsiteSchema>

export function newWidgetSettings({ name: connectionName, widget = {} }: NewWebsite): WebsiteSettings {
  const defaults: WebsiteSettings = {
    baseUrl: null,
    title: connectionName.trim().slice(0, 60),
    color: '#2f6f5e',
    language: 'en',
    greeting: {},
    fields: { name: 'optional', email: 'off', phone: 'off' },
    origins: [],
    whatsapp: null,
    identitySecret: null,
    previousSecret: null,
  }
  return changeWidget(defaults, widget)
}

/** Returns the settings with the changes. Throws 400 for an origin or a number that cannot be one. */
export function changeWidget(before: WebsiteSettings, changes: WidgetChanges): WebsiteSettings {
  const { origins, whatsapp, title, ...others } = changes
  return {
    ...before,
    ...others,
    ...(title !== undefined && { title: title.trim() }),
    ...(origins !== undefined && { origins: [...new Set(origins.map(originOrThrow))] }),
    ...(whatsapp !== undefined && { whatsapp: whatsapp === null ? null : phoneOrThrow(whatsapp) }),
  }
}

function originOrThrow(given: string, at: number): string {
  const url = URL.parse(given.trim())
  const isSite = url !== null && ['https:', 'http:'].includes(url.protocol) && url.host !== ''
  // Written into a header, so nothing but an origin may remain of it.
  if (!isSite || url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '') {
    throw invalid(`widget.origins[${at}]`, 'must be an origin without a path, such as https://www.example.com')
  }
  return url.origin
}

function phoneOrThrow(given: string): string {
  const phone = parsePhone(given)
  if (phone === null) throw invalid('widget.whatsapp', 'must be a phone number with country code')
  return phone
}

const overlapMs = 86_400_000

/** Returns the settings with a new secret; the previous one is valid for another day. */
export function rotateSecret(before: WebsiteSettings, now: Date): WebsiteSettings & { identitySecret: string } {
  const until = new Date(now.getTime() + overlapMs).toISOString()
  return {
    ...before,
    identitySecret: randomBytes(32).toString('base64url'),
    previousSecret: before.identitySecret === null ? null : { secret: before.identitySecret, until },
  }
}

/** Returns the secrets that are accepted now. */
export function secretsOf({ identitySecret, previousSecret }: WebsiteSettings, now: Date): string[] {
  const isInUse = previousSecret !== null && new Date(previousSecret.until) > now
  return [...(identitySecret === null ? [] : [identitySecret]), ...(isInUse ? [previousSecret.secret] : [])]
}
