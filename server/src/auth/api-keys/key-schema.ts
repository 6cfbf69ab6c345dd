import { type Static, Type } from 'typebox'
import { InvalidInput, type Issue } from '../../base/errors.ts'
import { normalRange } from '../../base/outgoing/address.ts'
import { nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { text, uuid, visiblePattern, wholeNumber } from '../../base/schema-types.ts'
import { withIsoTimes } from '../../base/time.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import { type ApprovalRules, type Scope, scopes } from './caller.ts'
import { type ApiKeyRow, type KeySettingsInput, keyLabel } from './queries.ts'

const name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: visiblePattern,
  description: 'Name that says what the key is for. Agents appear under it in the inbox.',
  example: 'Website agent',
})
const scopeList = Type.Array(oneOf(scopes, { title: 'Scope' }), {
  minItems: 1,
  maxItems: scopes.length,
  description:
    'What the key may do. Without `inbox.write` it cannot answer customers: a key that loses it returns its conversations to people.',
  example: ['leads.read', 'leads.write'],
})
const connectionIds = Type.Array(uuid(), {
  maxItems: 100,
  description: 'Chat connections that the key can see; empty for all connections of the workspace.',
  example: [],
})
const phoneVisibility = oneOf(['full', 'masked'] as const, {
  title: 'PhoneVisibility',
  description:
    'Whether customer phone numbers are shown in full, or with the middle replaced by asterisks. A masked key can look up leads and conversations by a complete number only; its search ignores phone numbers. After 30 lookups of unknown numbers within a minute it gets 429.',
  example: 'full',
})
const allowlist = Type.Array(Type.String({ maxLength: 64 }), {
  maxItems: 100,
  description: 'IPv4 or IPv6 addresses and CIDR ranges from which the key can be used; empty for any address.',
  example: ['203.0.113.7', '2001:db8::/32'],
})
const answersNewConversations = Type.Boolean({
  description:
    'Whether new conversations are assigned to this key. Of several such keys, the oldest active one that can see the connection gets them. Requires `inbox.write`. Can be changed later.',
  example: false,
})

const unansweredSends = nullable(
  Type.Integer({
    minimum: 1,
    maximum: 50,
    description:
      'Maximum number of messages in a conversation since the customer’s last one; the next is refused with `UNANSWERED_LIMIT`. Null: 3 in the interface for agents, no limit in v1.',
    example: 3,
  }),
)
const dailySends = nullable(
  Type.Integer({
    minimum: 1,
    maximum: 100_000,
    description:
      'Maximum number of messages in a UTC day; the next is refused with `DAILY_SENDS_REACHED`. Null: 1,000 in the interface for agents, no limit in v1.',
    example: 1000,
  }),
)

const quietSeconds = nullable(
  Type.Integer({
    minimum: 0,
    maximum: 30,
    description:
      'Seconds that a customer must have been silent before their messages become work of an agent (`wait_for_work`), so that it answers several messages at once. Each message starts the time again; no message waits more than 30 seconds. 0: at once. Null: 4.',
    example: 4,
  }),
)
const maxParts = nullable(
  Type.Integer({
    minimum: 1,
    maximum: 10,
    description:
      'Maximum number of messages into which the interface for agents may cut one text; a longer one is refused with `TOO_MANY_PARTS`. Null: `agentMaxParts` of the workspace. The platform charges each part; v1 has no limit.',
    example: 1,
  }),
)

const showTyping = Type.Boolean({
  description:
    'Whether `wait_for_work` shows customers that the agent is typing when it returns their messages. A call that says `show_typing` overrides it.',
  example: false,
})

const approval = nullable(
  Type.Object(
    {
      always: Type.Boolean({ description: 'Every answer.' }),
      outsideHours: Type.Boolean({
        description: 'Answers outside the business hours of the workspace; without business hours, none.',
      }),
      firstAnswers: Type.Boolean({ description: 'The first answer of a conversation.' }),
      labelIds: Type.Array(uuid(), { maxItems: 20, description: 'Answers in conversations with one of these labels.' }),
      amountFrom: nullable(
        Type.Number({
          minimum: 0,
          maximum: 1e12,
          description: 'Texts that name an amount of money of at least so much, in any currency; null: none.',
        }),
      ),
    },
    {
      ...closed,
      title: 'ApprovalRules',
      description:
        'Which answers of the key a person must approve. The interface for agents turns them into drafts; v1 refuses them with `APPROVAL_NEEDED`. Null: none.',
    },
  ),
)

const toolsOff = Type.Array(text(64, 'Name of a tool.'), {
  maxItems: 100,
  description:
    'Tools of the interface for agents that the key cannot call or see; `GET …/agent-tools` lists them. Its scopes limit it further. v1 knows no tools.',
  example: ['start_conversation'],
})

/** Returns null if no rule applies to anything. */
function normalRules(rules: ApprovalRules | null): ApprovalRules | null {
  if (rules === null) return null
  const labelIds = [...new Set(rules.labelIds.map((id) => id.toLowerCase()))]
  const isAny = rules.always || rules.outsideHours || rules.firstAnswers || labelIds.length > 0
  return isAny || rules.amountFrom !== null ? { ...rules, labelIds } : null
}

const settings = {
  name,
  scopes: scopeList,
  connectionIds,
  phoneVisibility,
  allowlist,
  answersNewConversations,
  unansweredSends,
  dailySends,
  quietSeconds,
  maxParts,
  showTyping,
  approval,
  toolsOff,
}

export const newKeySchema = Type.Object(
  {
    ...Type.Partial(Type.Object(settings)).properties,
    name,
    scopes: scopeList,
    expiresAt: Type.Optional(nullable(timestamp('Expiry time. Null if it does not expire.'))),
  },
  { ...closed, example: { name: 'Website agent', scopes: ['leads.read', 'leads.write'] } },
)

const { phoneVisibility: _, ...changeable } = settings
export const keyChangesSchema = Type.Partial(Type.Object(changeable), { ...closed, minProperties: 1 })
export type KeyChangesInput = Static<typeof keyChangesSchema>

export const rotateKeySchema = Type.Object(
  {
    previousValidUntil: Type.Optional(
      nullable(
        timestamp('Until when the previous value still works, at most 30 days ahead. Null: it stops immediately.'),
      ),
    ),
  },
  { ...closed, example: {} },
)

export const usableStatus = oneOf(['active', 'revoked', 'expired'] as const, {
  title: 'CredentialStatus',
  description: 'Only active credentials work.',
  example: 'active',
})

const oauth = nullable(
  Type.Object(
    {
      clientId: text(2000, 'The address of its metadata document, or the id that its registration returned.', {
        example: 'https://app.example.com/client.json',
      }),
      redirectHost: text(300, 'Host that the browser was sent back to, or the scheme of an app.', {
        example: 'app.example.com',
      }),
    },
    {
      title: 'OAuthClient',
      description: 'The program that a person connected by OAuth and that alone can use the key; null for other keys.',
    },
  ),
)

export const keySchema = titled('ApiKey', {
  id: idSchema('The key. Rotation does not change it.'),
  ...{ name },
  shown: text(20, 'Prefix and last four characters of the value; `OAuth` for a key without one.', {
    example: 'plk_…3bXq',
  }),
  oauth,
  status: usableStatus,
  ...settings,
  expiresAt: nullable(timestamp('Expiry time; null if it does not expire.')),
  revokedAt: nullable(timestamp('Revocation time; null if not revoked.')),
  previousValidUntil: nullable(
    timestamp('Until when the value before the last rotation still works; null if it does not.'),
  ),
  createdBy: nullable(
    idSchema(
      'The member who created it, directly or with a team token. Null if created from the command line or with the operator token.',
    ),
  ),
  createdAt: timestamp('Creation time.'),
  lastUsedAt: nullable(timestamp('Time of last use, to within a minute.')),
})

export const keyCallSchema = titled('ApiKeyCall', {
  at: timestamp('Time of the response.'),
  method: text(10, 'HTTP method.', { example: 'GET' }),
  route: text(500, 'Path, with names instead of ids.', { example: '/api/v1/leads/:leadId' }),
  verb: nullable(text(100, 'Name of the tool that an agent called; null for other programs.', { example: null })),
  status: Type.Integer({
    minimum: 100,
    maximum: 999,
    description: 'HTTP status. For a failed tool call, the status that the failure corresponds to.',
    example: 200,
  }),
  ms: wholeNumber('Milliseconds until the response.', { example: 12 }),
})

export const keyValueSchema = Type.String({
  maxLength: 40,
  description: 'The key value, for `Authorization: Bearer …`. Shown only in this response.',
  example: 'plk_0000000000000000000000_2Qf73M',
})

export function presentKey(
  { workspaceId: _, lastFour, oauthClient, oauthRedirect, ...row }: ApiKeyRow,
  now: Date,
): Static<typeof keySchema> {
  const previous = row.previousValidUntil
  return {
    ...withIsoTimes(row),
    shown: oauthClient === null ? keyLabel(lastFour) : 'OAuth',
    oauth: oauthClient === null ? null : { clientId: oauthClient, redirectHost: oauthRedirect ?? '' },
    status: statusAt(row, now),
    scopes: row.scopes as Static<typeof scopeList>,
    previousValidUntil: previous !== null && previous > now ? previous.toISOString() : null,
  }
}

export function statusAt(row: Pick<ApiKeyRow, 'revokedAt' | 'expiresAt'>, now: Date): Static<typeof usableStatus> {
  if (row.revokedAt !== null) return 'revoked'
  return row.expiresAt !== null && row.expiresAt <= now ? 'expired' : 'active'
}

const answeringScope: Scope = 'inbox.write'

/** A key without the scope to answer cannot get new conversations. */
const needsAnsweringScope: Issue = {
  path: 'answersNewConversations',
  message: `needs the scope ${answeringScope}: set it to false, or add the scope`,
}

export const mayAnswer = (scopes: readonly string[]): boolean => scopes.includes(answeringScope)

const maxNameLength = 100

/** Normalizes settings of the schema, and checks what it cannot. Throws one `InvalidInput` that names every problem. */
export function checkKeySettings(input: KeySettingsInput, now: Date) {
  const issues: Issue[] = []
  const settings = {
    name: input.name.trim(),
    scopes: scopes.filter((scope) => input.scopes.includes(scope)),
    connectionIds: [...new Set((input.connectionIds ?? []).map((id) => id.toLowerCase()))],
    phoneVisibility: input.phoneVisibility ?? ('full' as const),
    allowlist: checkAllowlist(input.allowlist ?? [], issues),
    answersNewConversations: input.answersNewConversations ?? mayAnswer(input.scopes),
    unansweredSends: input.unansweredSends ?? null,
    dailySends: input.dailySends ?? null,
    quietSeconds: input.quietSeconds ?? null,
    maxParts: input.maxParts ?? null,
    showTyping: input.showTyping ?? false,
    approval: normalRules(input.approval ?? null),
    toolsOff: [...new Set(input.toolsOff)].sort(),
    expiresAt: input.expiresAt ?? null,
  }
  if (settings.name.length < 1 || settings.name.length > maxNameLength) {
    issues.push({ path: 'name', message: `must have 1 to ${maxNameLength} characters` })
  }
  if (settings.answersNewConversations && !mayAnswer(settings.scopes)) issues.push(needsAnsweringScope)
  // Negated, so that an invalid time (NaN) is refused as well.
  if (settings.expiresAt !== null && !(settings.expiresAt.getTime() > now.getTime())) {
    issues.push({ path: 'expiresAt', message: 'must be in the future' })
  }
  if (issues.length > 0) throw new InvalidInput(issues)
  return settings
}

function checkAllowlist(entries: readonly string[], issues: Issue[]): string[] {
  const ranges: string[] = []
  for (const [at, entry] of entries.entries()) {
    const range = normalRange(entry.trim())
    if (range === null) issues.push({ path: `allowlist[${at}]`, message: 'must be an address or a CIDR range' })
    else ranges.push(range)
  }
  return [...new Set(ranges)]
}
