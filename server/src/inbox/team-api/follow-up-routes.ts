import { type Static, Type } from 'typebox'
import { forbidden, invalid } from '../../base/errors.ts'
import { nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { text, visiblePattern } from '../../base/schema-types.ts'
import { parseFutureTime } from '../../base/time.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { idSchema } from '../../team/team-schema.ts'
import { strict } from '../api/schema.ts'
import { findSilenceReminder, maxSilenceDays, setSilenceReminder } from '../assignment/silence-reminder.ts'
import type { InboxDeps } from '../conversation/conversation.ts'
import { requireConversation } from '../conversation/queries.ts'
import { textOf } from '../drafts/draft.ts'
import { actorReferences, type Names, readNames } from '../read/names.ts'
import { findNewestRating } from '../satisfaction/ratings.ts'
import { presentRating, TeamRating } from '../satisfaction/satisfaction-routes.ts'
import { cancelScheduled, rescheduleMessage, scheduleMessage } from '../scheduled/schedule.ts'
import { listScheduled, type ScheduledMessage, scheduledStatuses } from '../scheduled/scheduled-message.ts'
import { TemplateToStart } from '../send/send-schema.ts'
import { DraftTemplate, templateOf } from './draft-routes.ts'
import { namedActor, TeamConversationParams } from './inbox-schema.ts'
import { conversationsPath, presentWithName, requireInbox, scopeOf } from './present-conversation.ts'

const TeamScheduled = titled('TeamScheduledMessage', {
  id: idSchema('The scheduled message.'),
  status: oneOf(scheduledStatuses, {
    description:
      '`sending`: the result is not known yet. `drafted`: a person must approve it. `held`: nothing was sent, see `reason`; it can be scheduled again. `failed`: the platform did not deliver it.',
  }),
  sender: namedActor,
  text: nullable(text(16_384, 'Its text; null for a template.')),
  template: DraftTemplate,
  dueAt: timestamp('When it is sent.'),
  cancelIfCustomerWrites: Type.Boolean({ description: 'Whether a message of the customer before then cancels it.' }),
  reason: nullable(
    text(100, 'Why it was not sent: the code of the error, `CUSTOMER_WROTE`, `SENDER_LEFT` or `KEY_ENDED`.', {
      example: 'WINDOW_CLOSED',
    }),
  ),
  messageId: nullable(idSchema('The message that it became.')),
  createdAt: timestamp('When it was scheduled.'),
})

const ScheduledAnswer = Type.Object({ scheduled: TeamScheduled })

function presentScheduled(one: ScheduledMessage, names: Names): Static<typeof TeamScheduled> {
  const { id, status, sender, body, dueAt, cancelIfCustomerWrites, reason, messageId, createdAt } = one
  return {
    ...{ id, status, cancelIfCustomerWrites, reason, messageId },
    sender: presentWithName(sender, names),
    text: textOf(body),
    template: templateOf(body),
    dueAt: dueAt.toISOString(),
    createdAt: createdAt.toISOString(),
  }
}

const SilenceReminderSchema = titled('TeamSilenceReminder', {
  userId: idSchema('The person who is reminded.'),
  name: nullable(text(100, 'Their name.', { example: 'Ana Lima' })),
  remindAt: timestamp('When, unless the customer writes before.'),
})

const dueAt = timestamp('A time with an offset, within 30 days.')

const NewScheduled = strict({
  text: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 16_384,
      pattern: visiblePattern,
      description: 'Either this or `template`.',
      example: 'Did everything arrive?',
    }),
  ),
  template: Type.Optional(TemplateToStart),
  dueAt,
  cancelIfCustomerWrites: Type.Optional(
    Type.Boolean({ default: true, description: 'Whether a message of the customer before then cancels it.' }),
  ),
})

const ScheduledParams = Type.Object({
  ...TeamConversationParams.properties,
  scheduledId: idSchema('The scheduled message.'),
})

/** Routes for people: messages to send later, and reminders of silent customers. */
export function followUpRoutes(api: TeamApi, deps: InboxDeps): void {
  readRoute(api, deps)
  scheduleRoutes(api, deps)
  silenceRoutes(api, deps)
}

function readRoute(api: TeamApi, deps: InboxDeps): void {
  const { db, keyStore } = deps
  api.get(`${conversationsPath}/:id/follow-ups`, 'member', {
    operationId: 'getFollowUps',
    summary: 'List what is scheduled in a conversation',
    description:
      'Messages to send later, soonest first, then up to five that are held, the reminder for a silent customer, and the last rating of the customer.',
    params: TeamConversationParams,
    answers: {
      200: Type.Object({
        scheduled: Type.Array(TeamScheduled, { maxItems: 100 }),
        silenceReminder: nullable(SilenceReminderSchema),
        rating: Type.Union([TeamRating, Type.Null()], {
          description: 'What the customer answered last; null without it.',
        }),
      }),
    },
    allErrors: [400, 401, 404],
    run: async ({ member: { workspaceId }, params }) => {
      const row = await requireConversation(db.sql, { workspaceId, connectionIds: [] }, params.id)
      const newest = row.newest_inbound_id
      const [[scheduled, rating], reminder] = await Promise.all([
        keyStore.withKeyring(workspaceId, (keyring) => {
          const work = { sql: db.sql, keyring, workspaceId }
          return Promise.all([listScheduled(work, { id: row.id, inbound: { newest } }), findNewestRating(work, row.id)])
        }),
        findSilenceReminder(db.sql, workspaceId, row.id, newest),
      ])
      const names = await readNames(deps, workspaceId, [
        ...scheduled.map(({ sender }) => sender),
        ...actorReferences([rating?.answeredBy ?? null]),
        ...(reminder === null ? [] : [{ type: 'user' as const, id: reminder.userId }]),
      ])
      return {
        scheduled: scheduled.map((one) => presentScheduled(one, names)),
        silenceReminder: reminder && {
          userId: reminder.userId,
          name: names('user', reminder.userId),
          remindAt: reminder.remindAt.toISOString(),
        },
        rating: rating && presentRating(rating, names),
      }
    },
  })
}

function scheduleRoutes(api: TeamApi, deps: InboxDeps): void {
  const present = async (workspaceId: string, scheduled: ScheduledMessage) => ({
    scheduled: presentScheduled(scheduled, await readNames(deps, workspaceId, [scheduled.sender])),
  })
  const path = `${conversationsPath}/:id/scheduled-messages`
  api.post(path, 'member', {
    operationId: 'scheduleMessage',
    summary: 'Schedule a message',
    description:
      'Sends a text or a template later, in the name of the member. Whatever can refuse a send is judged when it is due; then it is held and the member is notified. At most 20 wait in a conversation. Repeating the call schedules nothing more.',
    params: TeamConversationParams,
    body: NewScheduled,
    answers: { 201: ScheduledAnswer },
    errors: [409, 422],
    run: async ({ member, params, body }) => {
      requireInbox(member)
      const due = parseFutureTime(body.dueAt, 'dueAt', deps.clock.now())
      const scheduler = { ...scopeOf(member), actor: member.actor }
      const { scheduled } = await scheduleMessage(deps, scheduler, {
        conversationId: params.id,
        body: bodyOf(body),
        dueAt: due,
        cancelIfCustomerWrites: body.cancelIfCustomerWrites ?? true,
      })
      return present(member.workspaceId, scheduled)
    },
  })
  api.patch(`${path}/:scheduledId`, 'member', {
    operationId: 'rescheduleMessage',
    summary: 'Change when a message is sent',
    description: 'Also schedules a held message again. `dueAt` null sends it now, within seconds.',
    params: ScheduledParams,
    body: strict({ dueAt: nullable(dueAt) }),
    answers: { 200: ScheduledAnswer },
    errors: [409, 422],
    run: async ({ member, params, body }) => {
      requireInbox(member)
      const due = body.dueAt === null ? null : parseFutureTime(body.dueAt, 'dueAt', deps.clock.now())
      const named = { conversationId: params.id, id: params.scheduledId.toLowerCase(), dueAt: due }
      const scheduler = { ...scopeOf(member), actor: member.actor }
      return present(member.workspaceId, await rescheduleMessage(deps, scheduler, named))
    },
  })
  api.post(`${path}/:scheduledId/cancel`, 'member', {
    operationId: 'cancelScheduledMessage',
    summary: 'Cancel a scheduled message',
    description: 'Nothing is sent. 409 if it is being sent or has ended.',
    params: ScheduledParams,
    answers: { 200: ScheduledAnswer },
    errors: [409, 413, 415],
    run: async ({ member, params }) => {
      const named = { conversationId: params.id, id: params.scheduledId.toLowerCase() }
      const scheduler = { ...scopeOf(member), actor: member.actor }
      return present(member.workspaceId, await cancelScheduled(deps, scheduler, named))
    },
  })
}

function bodyOf({ text: words, template }: Static<typeof NewScheduled>) {
  if ((words === undefined) === (template === undefined)) throw invalid('text', 'or template is required, not both')
  return words === undefined ? { kind: 'template', template } : { kind: 'text', text: words }
}

function silenceRoutes(api: TeamApi, deps: InboxDeps): void {
  const path = `${conversationsPath}/:id/silence-reminder`
  api.put(path, 'member', {
    operationId: 'setSilenceReminder',
    summary: 'Remind me if the customer does not write',
    description:
      'Notifies the member once, unless the customer writes before. In place of an earlier reminder of the conversation. Only for members: tokens get 403.',
    params: TeamConversationParams,
    body: strict({
      days: Type.Integer({ minimum: 1, maximum: maxSilenceDays, description: 'From now.', example: 3 }),
    }),
    run: async ({ member, params, body }) => {
      const { userId } = member
      if (userId === null) throw forbidden('Only members get notifications. Sign in as a member.')
      const remindAt = new Date(deps.clock.now().getTime() + body.days * 86_400_000)
      await setSilenceReminder(deps, scopeOf(member), params.id, { userId, remindAt })
    },
  })
  api.delete(path, 'member', {
    operationId: 'removeSilenceReminder',
    summary: 'Remove the reminder for a silent customer',
    description: 'Does nothing if there is none.',
    params: TeamConversationParams,
    run: ({ member, params }) => setSilenceReminder(deps, scopeOf(member), params.id, null),
  })
}
