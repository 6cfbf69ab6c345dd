import { Type } from 'typebox'
import { nullable } from '../../base/route.ts'
import { visiblePattern } from '../../base/schema-types.ts'
import type { Weekday } from '../../team/opening-hours.ts'
import { closed } from '../../team/team-schema.ts'

const timeOfDay = (pattern: string, description: string, example: string) =>
  Type.String({ pattern, maxLength: 5, description, example })
const spans = Type.Array(
  Type.Object(
    {
      from: timeOfDay('^([01][0-9]|2[0-3]):[0-5][0-9]$', 'Start time.', '09:00'),
      to: timeOfDay('^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$', 'End time; `24:00` is midnight.', '18:00'),
    },
    { ...closed, title: 'OpeningSpan' },
  ),
  { maxItems: 4, description: 'Sorted and not overlapping. Empty: closed.' },
)
const week = Type.Object(
  {
    monday: spans,
    tuesday: spans,
    wednesday: spans,
    thursday: spans,
    friday: spans,
    saturday: spans,
    sunday: spans,
  } satisfies Record<Weekday, typeof spans>,
  { ...closed, title: 'OpeningWeek' },
)
const timeZone = Type.String({
  pattern: '^[A-Za-z][A-Za-z0-9_+/-]*$',
  maxLength: 64,
  description: 'IANA name of the time zone of the times.',
  example: 'America/Sao_Paulo',
})
export const hoursSchema = (description: string) =>
  nullable(Type.Object({ timeZone, week }, { ...closed, description }))

export const maxHolidays = 400
const maxName = 100

const date = (description: string, example: string) =>
  Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$', maxLength: 10, description, example })
const holidayFields = {
  name: Type.String({
    minLength: 1,
    maxLength: maxName,
    pattern: visiblePattern,
    description: 'Its name.',
    example: 'Christmas',
  }),
  from: date('First day, in the time zone of the hours.', '2026-12-25'),
  to: date('Last day.', '2026-12-25'),
}

/** Name of an imported calendar. */
export const calendarName = Type.String({
  minLength: 1,
  maxLength: maxName,
  pattern: visiblePattern,
  description: 'Name of the calendar: another import with the same name replaces its holidays.',
  example: 'Brazil',
})
export const holidaysSchema = Type.Array(
  Type.Object({ ...holidayFields, calendar: nullable(calendarName) }, { ...closed, title: 'Holiday' }),
  {
    maxItems: maxHolidays,
    description:
      'Days on which the team is closed. `calendar` names the imported calendar; null for those that people entered.',
    example: [{ name: 'Christmas', from: '2026-12-25', to: '2026-12-25', calendar: null }],
  },
)
export const teamHolidaysSchema = Type.Array(Type.Object(holidayFields, { ...closed, title: 'TeamHoliday' }), {
  maxItems: maxHolidays,
  description: 'Days on which this team is closed, in place of those of the workspace.',
})

const awayText = Type.Optional(
  Type.String({ minLength: 1, maxLength: 1000, pattern: visiblePattern, description: 'The text in this language.' }),
)
export const awayMessageSchema = nullable(
  Type.Object(
    {
      texts: Type.Object(
        { en: awayText, es: awayText, pt: awayText },
        {
          ...closed,
          minProperties: 1,
          title: 'AwayTexts',
          description:
            'One text for everybody, or one per language: the language is that of the country of the customer’s number.',
        },
      ),
      withAgents: Type.Boolean({
        description: 'Whether customers get it also while an agent has the conversation.',
        example: false,
      }),
    },
    {
      ...closed,
      title: 'AwayMessage',
      description:
        'What a customer gets who writes outside of business hours, once a day, while the conversation window is open. It does not count as an answer. Null: nothing.',
      example: { texts: { en: 'We are closed now and answer tomorrow morning.' }, withAgents: false },
    },
  ),
)

const minutes = (description: string) =>
  nullable(Type.Integer({ minimum: 1, maximum: 10_080, description, example: 30 }))
const goalMinutes = {
  firstAnswer: minutes('Minutes to the first answer of a case: since the customer wrote. Null: no such goal.'),
  nextAnswer: minutes('Minutes to each further answer. Null: no such goal.'),
  resolution: minutes('Minutes until the conversation is resolved or closed. Null: no such goal.'),
}
const ofPriority = Type.Optional(Type.Object(goalMinutes, { ...closed, title: 'GoalMinutes' }))
export const serviceGoalsSchema = nullable(
  Type.Object(
    {
      ...goalMinutes,
      priorities: Type.Object(
        { low: ofPriority, normal: ofPriority, high: ofPriority, urgent: ofPriority },
        { ...closed, title: 'PriorityGoals', description: 'Other goals for conversations with a priority.' },
      ),
    },
    {
      ...closed,
      title: 'ServiceGoals',
      description: 'Service-level goals, in minutes of business hours. Null: none.',
      example: { firstAnswer: 30, nextAnswer: 60, resolution: null, priorities: {} },
    },
  ),
)
