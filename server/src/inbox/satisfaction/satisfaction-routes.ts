import { type Static, Type } from 'typebox'
import { decodeCursor, encodeCursor } from '../../base/cursor.ts'
import { badRequest, forbidden } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import { nullable, timestamp, titled } from '../../base/route.ts'
import { count, cursor, page, text, uuid, visiblePattern } from '../../base/schema-types.ts'
import { choiceLimits } from '../../channels/interactive-options.ts'
import { recordAudit } from '../../team/audit.ts'
import { roleCovers } from '../../team/member.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { actorReferences, type Names, readContacts, readNames } from '../read/names.ts'
import { namedActor } from '../team-api/inbox-schema.ts'
import { presentWithName } from '../team-api/present-conversation.ts'
import { requireTemplate } from './question.ts'
import { listRatings, maxComment, type Rating, sumRatings } from './ratings.ts'
import {
  changeSatisfactionSettings,
  minWaitMinutes,
  readSatisfactionSettings,
  type SatisfactionSettings,
} from './satisfaction-settings.ts'

const path = '/api/team/v1/workspaces/:workspaceId'
const pageLength = 50
const summaryDays = 30

const words = (maxLength: number, description: string, example: string) =>
  Type.String({ minLength: 1, maxLength, pattern: visiblePattern, description, example })

const settingsFields = {
  isEnabled: Type.Boolean({ description: 'Whether customers are asked; off by default.' }),
  question: words(choiceLimits.text, 'What customers are asked.', 'How satisfied are you with our help?'),
  buttonText: words(choiceLimits.buttonTitle, 'Text of the button that opens the list of stars.', 'Rate'),
  scale: Type.Unsafe<3 | 5>({ type: 'integer', enum: [3, 5], description: 'Three faces, or one to five stars.' }),
  waitMinutes: Type.Integer({
    minimum: minWaitMinutes,
    maximum: 10_080,
    description: 'How long after the closing. Opened again before then, the customer is not asked.',
    example: 10,
  }),
  everyDays: Type.Integer({
    minimum: 1,
    maximum: 365,
    description: 'A customer is asked at most once in so many days, on all connections together.',
    example: 30,
  }),
  connectionIds: Type.Array(uuid(), {
    maxItems: 1000,
    description: 'Connections on which customers are asked; empty: all that can show buttons. Linked phones cannot.',
    example: [],
  }),
  template: nullable(
    Type.Object(
      {
        name: Type.String({ minLength: 1, maxLength: 512, example: 'how_was_it' }),
        language: Type.String({ minLength: 1, maxLength: 20, example: 'en_US' }),
      },
      {
        ...closed,
        title: 'SatisfactionTemplate',
        description:
          'Template for outside of the 24-hour window, without parameters and with one quick reply for each step of the scale, worst first. Null: then nobody is asked.',
      },
    ),
  ),
}
const Settings = titled('SatisfactionSettings', settingsFields)
const SettingsChange = Type.Partial(Type.Object(settingsFields), {
  ...closed,
  minProperties: 1,
  example: { isEnabled: true },
})

export const TeamRating = titled('SatisfactionRating', {
  id: idSchema('The rating.'),
  conversationId: idSchema('The conversation.'),
  score: Type.Integer({ minimum: 1, maximum: 5, description: 'From 1 (worst) to `scale`.', example: 4 }),
  scale: Type.Integer({ minimum: 3, maximum: 5, description: 'The best score: 3 or 5.', example: 5 }),
  answeredBy: namedActor,
  comment: nullable(
    text(maxComment, 'The customer’s next message within an hour, unless it contains a question.', {
      example: 'Very quick, thank you.',
    }),
  ),
  messageId: nullable(idSchema('The message with the score.')),
  ratedAt: timestamp('When they answered.'),
})

const ListedRating = titled('ListedRating', {
  ...TeamRating.properties,
  name: nullable(text(400, 'Name of the customer.')),
})

const RatingQuery = Type.Object(
  {
    score: Type.Optional(Type.Integer({ minimum: 1, maximum: 5, description: 'Only with this score.' })),
    keyId: Type.Optional(idSchema('Only of this agent.')),
    userId: Type.Optional(idSchema('Only of this person.')),
    cursor: Type.Optional(cursor('`nextCursor` of the page before.')),
  },
  closed,
)

const Ratings = Type.Object({
  ratings: Type.Array(ListedRating, page),
  nextCursor: nullable(cursor('For the next page; null at the end.')),
  summary: Type.Object(
    {
      days: count('Number of days that it covers, until now.', { example: summaryDays }),
      asked: count('Customers who were asked.'),
      rated: count('Those who answered.'),
      average: nullable(
        Type.Number({ minimum: 0, maximum: 1, description: 'From 0 (worst) to 1 (best); null without answers.' }),
      ),
    },
    { title: 'RatingSummary', description: 'Of the agent or person, with all scores.' },
  ),
})

export function presentRating({ ratedAt, answeredBy, ...rating }: Rating, names: Names): Static<typeof TeamRating> {
  return { ...rating, answeredBy: presentWithName(answeredBy, names), ratedAt: ratedAt.toISOString() }
}

/** Adds the routes of what customers think of conversations: settings and answers. */
export function satisfactionRoutes(api: TeamApi, deps: InboxDeps): void {
  const { db, clock } = deps
  api.get(`${path}/satisfaction-settings`, 'member', {
    operationId: 'getSatisfactionSettings',
    summary: 'Get the satisfaction settings',
    description: 'Whether and how customers are asked after their conversation was resolved or closed.',
    answers: { 200: Settings },
    run: ({ member }) => readSatisfactionSettings(db.sql, member.workspaceId),
  })
  api.patch(`${path}/satisfaction-settings`, 'admin', {
    operationId: 'updateSatisfactionSettings',
    summary: 'Change the satisfaction settings',
    description:
      'For admins. Conversations that were closed before it was enabled are not asked about. 400 for a template that is not approved, or has another number of quick replies.',
    body: SettingsChange,
    answers: { 200: Settings },
    run: ({ member: { workspaceId: scopeId, actor }, body }) => {
      const now = clock.now()
      return db.tx(async (tx) => {
        const changed = await changeSatisfactionSettings(tx, scopeId, parseChange(body), now)
        if (body.template !== undefined || body.scale !== undefined) await requireTemplate(tx, scopeId, changed)
        await recordAudit(tx, { scopeId, actor, action: 'satisfaction.changed', target: null }, now)
        return changed
      })
    },
  })
  listRoute(api, deps)
}

const parseChange = ({ connectionIds, ...rest }: Static<typeof SettingsChange>): Partial<SatisfactionSettings> => ({
  ...rest,
  ...(connectionIds && { connectionIds: [...new Set(connectionIds.map((id) => id.toLowerCase()))] }),
})

function listRoute(api: TeamApi, deps: InboxDeps): void {
  const { db, keyStore, clock } = deps
  api.get(`${path}/ratings`, 'member', {
    operationId: 'listRatings',
    summary: 'List ratings of customers',
    description:
      'What customers answered, newest first, with who had answered them before, and a summary of the last 30 days. 403 for those of another person, except for admins.',
    query: RatingQuery,
    answers: { 200: Ratings },
    run: async ({ member, query }) => {
      const { workspaceId } = member
      const { score = null, keyId = null, userId = null } = query
      if (userId !== null && userId.toLowerCase() !== member.userId && !roleCovers(member.role, 'admin'))
        throw forbidden('Only admins can see the ratings of other people. Use your own id as userId.')
      const filter = { score, keyId, userId }
      const before = query.cursor === undefined ? null : idIn(query.cursor)
      const since = new Date(clock.now().getTime() - summaryDays * 86_400_000)
      const [found, summary] = await Promise.all([
        keyStore.withKeyring(workspaceId, (keyring) =>
          listRatings({ sql: db.sql, keyring, workspaceId }, filter, { before, limit: pageLength + 1 }),
        ),
        sumRatings(db.sql, workspaceId, filter, since),
      ])
      const shown = found.slice(0, pageLength)
      const last = shown.at(-1)
      const [names, contacts] = await Promise.all([
        readNames(deps, workspaceId, actorReferences(shown.map(({ answeredBy }) => answeredBy))),
        readContacts(
          deps,
          workspaceId,
          shown.map(({ conversationId }) => conversationId),
        ),
      ])
      const ratings = shown.map((one) => {
        const { name = null, phone = null } = contacts.get(one.conversationId) ?? {}
        return { ...presentRating(one, names), name: name ?? phone }
      })
      const hasMore = found.length > pageLength && last !== undefined
      return {
        ratings,
        nextCursor: hasMore ? encodeCursor([last.id]) : null,
        summary: { days: summaryDays, ...summary },
      }
    },
  })
}

function idIn(text: string): string {
  const [id] = decodeCursor(text) ?? []
  if (typeof id !== 'string' || !isUuid(id)) throw badRequest('cursor is not valid: take nextCursor of the last page')
  return id
}
