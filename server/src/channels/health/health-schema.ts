import { Type } from 'typebox'
import { nullable, timestamp } from '../../base/route.ts'
import { wholeNumber } from '../../base/schema-types.ts'
import { connectionSchema } from '../connection/schema.ts'

const { state, stateReason, stateChangedAt, lastEventInAt, lastEventOutAt } = connectionSchema.properties
const text = Type.String({ maxLength: 1000, description: 'What to do next, in plain words.' })
const lag = (description: string) => nullable(wholeNumber(description, { example: 850 }))

export const healthSchema = Type.Object({
  state,
  stateReason,
  stateChangedAt,
  lastEventInAt,
  lastEventOutAt,
  lagMs: lag('Between what was last heard and the time the platform gives it; looked at once a minute at most.'),
  worstLagMs: lag('The longest of these, kept for about an hour.'),
  newConversationsGoTo: nullable(
    Type.Object(
      {
        keyId: Type.String({ format: 'uuid', maxLength: 36, description: 'The API key.' }),
        name: Type.String({ maxLength: 100, description: 'What the key is for.', example: 'Support agent' }),
        lastUsedAt: nullable(timestamp('When it was last let in, to within a minute; null: never.')),
      },
      {
        description:
          'Whose a customer becomes who writes here for the first time: the oldest key that answers new conversations and sees the connection. Null: people.',
      },
    ),
  ),
  failures: Type.Array(
    Type.Object({
      code: Type.String({ maxLength: 50, description: 'As in `errorCode` of messages.', example: '131026' }),
      count: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
      lastAt: timestamp('The time of the latest such message.'),
      advice: text,
    }),
    {
      maxItems: 20,
      description: 'Messages of the last 24 hours that failed, by code, the most frequent first; 20 codes at most.',
    },
  ),
  advice: Type.Array(
    Type.Object({
      code: Type.String({
        maxLength: 200,
        description:
          'What it is about: `stateReason`, `paused`, `acknowledgement_required`, `nothing_arrives` when messages go out and the platform tells nothing, not even of these, or `agent_never_used` when new conversations go to a key that nobody has come in with.',
        example: 'platform_error_190',
      }),
      text,
    }),
    { maxItems: 20, description: 'Empty when all is well.' },
  ),
})
