import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { count, text } from '../../base/schema-types.ts'

export const qualities = ['green', 'yellow', 'red'] as const
export type Quality = (typeof qualities)[number]

export const [maxProblems, maxProblemLength] = [10, 500]

const reported = 'Null: not reported.'

/** What the platform reports about a number, with the time of the last report. Stored as JSON. */
export const numberStatusSchema = titled('NumberStatus', {
  checkedAt: timestamp('When the platform last reported something.'),
  quality: nullable(
    oneOf(qualities, { description: `How customers reacted to the messages of the last seven days. ${reported}` }),
  ),
  messagingLimit: Type.Union(
    [
      Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Number of customers.', examples: [2000] }),
      Type.Literal('unlimited'),
      Type.Null(),
    ],
    {
      description: `Customers to whom the business may send templates outside the open window within 24 hours; all numbers of its portfolio share the limit. ${reported}`,
    },
  ),
  throughput: nullable(
    oneOf(['high', 'standard'], {
      description: `\`standard\`: 80 messages per second; \`high\`: up to 1,000. ${reported}`,
    }),
  ),
  nameStatus: nullable(
    oneOf(['approved', 'pending', 'declined', 'expired'], {
      description: `Review of the display name. ${reported}`,
    }),
  ),
  canSend: nullable(
    oneOf(['available', 'limited', 'blocked'], {
      description: `Whether messages can be sent, by the platform's health check. ${reported}`,
    }),
  ),
  problems: Type.Array(
    Type.Object({
      code: text(50, "The platform's error code; empty without one."),
      text: text(maxProblemLength, "Problem and solution in the platform's words."),
    }),
    { maxItems: maxProblems, description: 'Why `canSend` is not `available`.' },
  ),
  newChats: nullable(
    Type.Object(
      {
        level: oneOf(['normal', 'first_warning', 'second_warning', 'capped'], {
          description: '`capped`: none is allowed until `endsAt`.',
        }),
        used: nullable(count('New chats so far.')),
        total: nullable(count('New chats allowed; null if unlimited or unknown.')),
        endsAt: nullable(timestamp('When counting starts again.')),
      },
      { description: 'For `unofficial`: chats that the number may still start. Null: not reported.' },
    ),
  ),
  newChatsLockedUntil: nullable(
    timestamp('For `unofficial`: until when the number cannot write to new people. Null: it can.'),
  ),
})
export type NumberStatus = Static<typeof numberStatusSchema>
export type NumberFacts = Omit<NumberStatus, 'checkedAt'>
export type NewChatLevel = NonNullable<NumberFacts['newChats']>['level']

const unknown: NumberFacts = {
  quality: null,
  messagingLimit: null,
  throughput: null,
  nameStatus: null,
  canSend: null,
  problems: [],
  newChats: null,
  newChatsLockedUntil: null,
}

/** Returns the status after a report of some facts; keeps the others. */
export const mergeFacts = (before: NumberStatus | null, facts: Partial<NumberFacts>, now: Date): NumberStatus => ({
  ...unknown,
  ...before,
  ...facts,
  checkedAt: now.toISOString(),
})

/** Returns codes of what is wrong with the number now, for advice; most serious first. */
export function numberProblems(status: NumberStatus | null, now: Date): string[] {
  if (status === null) return []
  const { canSend, quality, nameStatus, newChats } = status
  return [
    ...(canSend === 'blocked' ? ['sending_blocked'] : []),
    ...(isLocked(status, now) ? ['new_chats_locked'] : []),
    ...(newChats?.level === 'capped' ? ['new_chats_capped'] : []),
    ...(canSend === 'limited' ? ['sending_limited'] : []),
    ...(quality === 'red' ? ['quality_red'] : []),
    ...(nameStatus === 'declined' ? ['name_declined'] : []),
    ...(nameStatus === 'expired' ? ['name_expired'] : []),
    ...(newChats !== null && isWarning(newChats.level) ? ['new_chats_warning'] : []),
    ...(quality === 'yellow' ? ['quality_yellow'] : []),
  ]
}

/** Returns codes of what became worse, for notifications: new problems, and limits that were lowered. */
export function findWorsened(before: NumberStatus | null, after: NumberStatus, now: Date): string[] {
  const known = new Set(numberProblems(before, now))
  const added = numberProblems(after, now).filter((code) => !known.has(code) && !isImprovement(code, known))
  return [
    ...added,
    ...(limitOf(after) < limitOf(before) ? ['messaging_limit_lowered'] : []),
    ...(before?.throughput === 'high' && after.throughput === 'standard' ? ['throughput_lowered'] : []),
  ]
}

/** Codes of which the second replaces the first when the number gets better. */
const improvements: Record<string, string> = {
  quality_yellow: 'quality_red',
  sending_limited: 'sending_blocked',
  new_chats_warning: 'new_chats_capped',
}

const isImprovement = (code: string, known: ReadonlySet<string>): boolean => known.has(improvements[code] ?? '')
const isWarning = (level: NewChatLevel): boolean => level === 'first_warning' || level === 'second_warning'

const isLocked = ({ newChatsLockedUntil }: NumberStatus, now: Date): boolean =>
  newChatsLockedUntil !== null && new Date(newChatsLockedUntil) > now

// An unknown limit compares as not lowered, whichever side it is on.
function limitOf(status: NumberStatus | null): number {
  const limit = status?.messagingLimit ?? null
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : (limit ?? Number.NaN)
}
