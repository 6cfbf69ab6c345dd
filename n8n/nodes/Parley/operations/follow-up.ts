import { conversationId, type Operation, reason, time } from './operation.ts'

const post = { resource: 'conversation', method: 'POST' } as const
const one = '/conversations/:conversation_id'

/** What happens later: scheduled messages, sequences and tasks. */
export const followUps: Operation[] = [
  {
    ...post,
    value: 'schedule',
    name: 'Schedule a Message',
    action: 'Schedule a message in a conversation',
    description: 'Send a text later, unless the customer writes first',
    path: `${one}/scheduled`,
    fields: [
      conversationId,
      { ...time, displayName: 'At', name: 'at', description: 'In the timezone of the workflow, within 30 days' },
      { ...reason, displayName: 'Text', name: 'text', required: true, placeholder: '', description: 'Text to send' },
    ],
    more: [
      {
        displayName: 'Cancel if the Customer Writes',
        name: 'cancelIfCustomerWrites',
        type: 'boolean',
        default: true,
        description: 'Whether a message of the customer before then cancels it',
      },
    ],
  },
  {
    ...post,
    value: 'cancelScheduled',
    name: 'Cancel a Scheduled Message',
    action: 'Cancel a scheduled message',
    description: 'Cancel a message of the same API key, unless it is being sent',
    path: `${one}/scheduled/:scheduled_id/cancel`,
    fields: [
      conversationId,
      {
        ...conversationId,
        displayName: 'Scheduled Message ID',
        name: 'scheduledId',
        description: 'From Schedule a Message or Get',
      },
    ],
  },
  {
    ...post,
    value: 'startSequence',
    name: 'Start a Sequence',
    action: 'Start a sequence for the customer of a conversation',
    description: 'Starts messages of the team that go out over days until the customer answers',
    path: '/sequence-runs',
    fields: [
      {
        displayName: 'Sequence Name',
        name: 'sequence',
        type: 'string',
        default: '',
        required: true,
        description: 'Of a sequence that the team has opened to agents',
      },
    ],
    more: [
      { ...conversationId, required: false, description: 'The customer; or give the lead' },
      {
        displayName: 'Lead ID',
        name: 'leadId',
        type: 'string',
        default: '',
        placeholder: 'e.g. 01985e2a-0000-7000-8000-000000000001',
        description: 'The customer; or give the conversation',
      },
    ],
  },
  {
    ...post,
    value: 'createTask',
    name: 'Create a Task',
    action: 'Create a task about a conversation',
    description: 'Create a task for people, who are notified when it is due',
    path: `${one}/tasks`,
    fields: [
      conversationId,
      {
        ...reason,
        displayName: 'Title',
        name: 'title',
        required: true,
        placeholder: 'e.g. Call about the quote',
        description: 'What to do',
      },
      { ...time, displayName: 'Due', name: 'dueAt', description: 'In the timezone of the workflow' },
    ],
  },
]
