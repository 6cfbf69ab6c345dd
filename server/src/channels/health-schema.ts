import { Type } from 'typebox'
import { nullable, timestamp } from '../base/route.ts'
import { connectionSchema } from './schema.ts'

const { state, stateReason, stateChangedAt, lastEventInAt, lastEventOutAt } = connectionSchema.properties
const text = Type.String({ description: 'What to do next, in plain words.' })
const lag = (description: string) => nullable(Type.Integer({ minimum: 0, description, example: 850 }))

export const healthSchema = Type.Object({
  state,
  stateReason,
  stateChangedAt,
  lastEventInAt,
  lastEventOutAt,
  lagMs: lag('Between what was last heard and the time the platform gives it; looked at once a minute at most.'),
  worstLagMs: lag('The longest of these, kept for about an hour.'),
  failures: Type.Array(
    Type.Object({
      code: Type.String({ description: 'As in `errorCode` of messages.', example: '131026' }),
      count: Type.Integer({ minimum: 1 }),
      lastAt: timestamp('The time of the latest such message.'),
      advice: text,
    }),
    { description: 'Messages of the last 24 hours that failed, by code, the most frequent first; 20 codes at most.' },
  ),
  advice: Type.Array(
    Type.Object({
      code: Type.String({
        description:
          'What it is about: `stateReason`, `paused`, `acknowledgement_required`, or `nothing_arrives` when messages go out and the platform tells nothing, not even of these.',
        example: 'platform_error_190',
      }),
      text,
    }),
    { description: 'Empty when all is well.' },
  ),
})
