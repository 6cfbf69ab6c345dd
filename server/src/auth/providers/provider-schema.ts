import { type Static, Type } from 'typebox'
import { nullable, timestamp, titled } from '../../base/route.ts'
import { text, visiblePattern } from '../../base/schema-types.ts'
import { closed, idSchema, roleSchema } from '../../team/team-schema.ts'

const group = nullable(
  text(200, 'Name or id of a group as the provider sends it; null for everyone who signs in with it.', {
    minLength: 1,
    example: 'sales',
  }),
)

const accessRule = Type.Object(
  { group, workspaceId: idSchema('The workspace.'), role: roleSchema },
  { ...closed, title: 'AccessRule' },
)

const settings = {
  name: Type.String({
    minLength: 1,
    maxLength: 60,
    pattern: visiblePattern,
    description: 'Name on the button of the sign-in page.',
    example: 'Acme',
  }),
  issuer: Type.String({
    minLength: 1,
    maxLength: 500,
    description: 'Address of the provider; its metadata is at `/.well-known/openid-configuration` below it.',
    example: 'https://sso.example.com/realms/acme',
  }),
  clientId: text(300, 'Id of Parley at the provider.', { minLength: 1, example: 'parley' }),
  domains: Type.Array(Type.String({ minLength: 1, maxLength: 253, example: 'example.com' }), {
    maxItems: 50,
    description: 'Domains of e-mail addresses that may sign in; empty for any.',
  }),
  linksByEmail: Type.Boolean({
    description:
      'Whether an address of one of the domains that the provider has verified links the existing account. Operators always link theirs themselves.',
    example: false,
  }),
  createsPeople: Type.Boolean({
    description: 'Whether people without an account get one at their first sign-in.',
    example: true,
  }),
  groupsClaim: nullable(
    text(200, 'Claim with the names of groups, with dots for nested claims; null for none.', {
      minLength: 1,
      example: 'groups',
    }),
  ),
  access: Type.Array(accessRule, {
    maxItems: 200,
    description:
      'Who gets which role. In a workspace with a rule for a group, roles follow the groups at every sign-in. A rule for everyone only adds members.',
  }),
  breakGlass: Type.Array(idSchema('An operator.'), {
    maxItems: 20,
    description: 'Operators who can sign in by password and second factor while sign-on is forced.',
  }),
  isEnabled: Type.Boolean({ description: 'Whether people can sign in with it.', example: true }),
}

export const providerInput = Type.Object(
  {
    ...settings,
    clientSecret: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1000,
        description: 'Required for a new provider; without it the secret is kept.',
        example: 'q1w2e3r4t5',
      }),
    ),
  },
  { ...closed, title: 'IdentityProviderInput' },
)

export type ProviderSettings = Omit<Static<typeof providerInput>, 'isEnabled' | 'clientSecret'> & {
  clientSecret: string
}

const testSchema = titled('SignOnTest', {
  at: timestamp('When it ended.'),
  problem: nullable(text(500, 'Why it failed; null if it succeeded.', { example: null })),
  email: nullable(text(254, 'Address that the provider sent.', { example: 'ana@example.com' })),
  isVerified: Type.Boolean({ description: 'Whether the provider says that it verified it.', example: true }),
  groups: Type.Array(text(200, 'A group.', { example: 'sales' }), { maxItems: 100 }),
})
/** What a test sign-in returned. */
export type TestResult = Static<typeof testSchema>
const nullableTest = Type.Unsafe<TestResult | null>({
  ...testSchema,
  type: ['object', 'null'],
  description: 'Result of the last test sign-in with this issuer and client; null: none.',
})

const address = (description: string, example: string) => text(2000, description, { example })

export const providerSchema = titled('IdentityProvider', {
  id: idSchema('The provider.'),
  ...settings,
  isForced: Type.Boolean({ description: 'Whether people of its domains can sign in only with it.', example: false }),
  test: nullableTest,
  scimTokenAt: nullable(timestamp('When its SCIM token was made; null: it has none.')),
  redirectUri: address('To register at the provider.', 'https://parley.example.com/sso/…/callback'),
  logoutUri: address('For back-channel logout, if the provider has it.', 'https://parley.example.com/sso/…/logout'),
  startUri: address('Starts a sign-in, for the app launcher of the provider.', 'https://parley.example.com/sso/…'),
})
