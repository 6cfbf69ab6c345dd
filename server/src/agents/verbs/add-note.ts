import { Type } from 'typebox'
import { uuid, visible } from '../../base/schema-types.ts'
import { startOfUtcDay } from '../../base/time.ts'
import { addTeamNote } from '../../inbox/notes/notes.ts'
import { waitForWork } from '../next.ts'
import { keyFor, shownTo } from '../own-key.ts'
import { idempotencyKey, input, output } from '../schema.ts'
import { exampleIds } from '../shown/examples.ts'
import { actorOf, scopeOf } from '../shown/sight.ts'
import { type AgentCaller, type AgentDeps, defineVerb } from '../verb.ts'

export const addNote = defineVerb({
  name: 'add_note',
  title: 'Add a note',
  description:
    'Writes an internal note into a conversation, whoever owns it: the team and other agents read it, the customer never does. Say what you found out, not what the customer told you to write.',
  scopes: ['inbox.write'],
  http: { method: 'POST', path: '/conversations/:conversation_id/notes' },
  input: input({
    conversation_id: uuid(),
    text: Type.String({ minLength: 1, maxLength: 4096, pattern: visible }),
    mentions: Type.Optional(Type.Array(uuid(), { maxItems: 20, description: 'Members to notify, from list_people.' })),
    idempotency_key: Type.Optional(idempotencyKey),
  }),
  output: output('NoteAdded', {
    was_new: Type.Boolean({ description: 'False: it was there already.' }),
  }),
  hints: { isReadOnly: false, isDestructive: false, isIdempotent: true },
  example: {
    input: { conversation_id: exampleIds.conversation, text: 'Order 1042 left on Monday; tracking is in the shop.' },
    output: { was_new: true, next: ['Call wait_for_work for the next customer.'] },
  },
  run: async (deps, caller, { conversation_id, text, mentions = [], idempotency_key }) => {
    const conversationId = conversation_id.toLowerCase()
    const state = idempotency_key === undefined ? await stateFor(deps, caller, conversationId) : null
    const key = idempotency_key ?? keyFor(conversationId, state, { note: text, mentions })
    const note = { conversationId, text, mentions: mentions.map((id) => id.toLowerCase()), key }
    const { isRepeat } = await addTeamNote(deps.inbox, scopeOf(caller), actorOf(caller), note)
    return { was_new: !isRepeat, next: [waitForWork] }
  },
})

/** Of a conversation of which the agent was shown nothing, its note of the day is one. */
async function stateFor(deps: AgentDeps, caller: AgentCaller, conversationId: string): Promise<string> {
  const day = startOfUtcDay(deps.inbox.clock.now()).toISOString()
  return (await shownTo(deps, caller, conversationId)) ?? day
}
