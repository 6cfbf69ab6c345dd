import type { INodeProperties } from 'n8n-workflow'
import { answers } from './answers.ts'
import { followUps } from './follow-up.ts'
import {
  conversationId,
  fromList,
  idempotencyKey,
  multiFromList,
  type Operation,
  reason,
  template,
  templateOf,
} from './operation.ts'

const summary: INodeProperties = {
  displayName: 'Summary',
  name: 'summary',
  type: 'string',
  typeOptions: { rows: 3 },
  default: '',
  required: true,
  placeholder: 'e.g. Wants the money back for order 1042',
  description: 'What has happened, for the next owner',
}
const urgency: INodeProperties = {
  displayName: 'Urgency',
  name: 'urgency',
  type: 'options',
  options: [
    { name: 'Low', value: 'low' },
    { name: 'Normal', value: 'normal' },
    { name: 'High', value: 'high' },
  ],
  default: 'normal',
  description: 'How soon a person is needed',
}
const nextStep: INodeProperties = {
  displayName: 'Next Step',
  name: 'nextStep',
  type: 'string',
  default: '',
  placeholder: 'e.g. Check the payment',
  description: 'What to do next',
}
const connectionId = fromList(
  'Connection Name or ID',
  'connectionId',
  'getConnections',
  'The number that customers write to',
)
const shared = { resource: 'conversation' } as const
const post = { ...shared, method: 'POST' } as const
const one = '/conversations/:conversation_id'

const messageOperations: Operation[] = [
  {
    ...post,
    value: 'seen',
    name: 'Show Typing',
    action: 'Show typing in a conversation',
    description:
      'Mark the messages of the customer as read and show the customer that an answer is being written, for up to 25 seconds',
    path: `${one}/seen`,
    fields: [conversationId],
  },
  {
    ...post,
    value: 'start',
    name: 'Start',
    action: 'Start a conversation with a template',
    description: 'Send a template to a number that has not written yet, and make the conversation yours',
    path: '/conversations',
    hasIdempotencyKey: true,
    fields: [
      { ...connectionId, required: true },
      {
        displayName: 'Phone',
        name: 'phone',
        type: 'string',
        default: '',
        required: true,
        placeholder: '+55 81 99123-4567',
        description: 'The number to send to, with country code',
      },
      ...template('Template to send'),
    ],
    more: [idempotencyKey],
    toRequest: templateOf,
  },
  {
    ...post,
    value: 'addNote',
    name: 'Add Note',
    action: 'Add a note',
    description: 'Add an internal note to any conversation; the customer cannot see it',
    path: `${one}/notes`,
    hasIdempotencyKey: true,
    fields: [
      conversationId,
      {
        displayName: 'Text',
        name: 'text',
        type: 'string',
        typeOptions: { rows: 4 },
        default: '',
        required: true,
        description: 'For the team and its agents',
      },
    ],
    more: [multiFromList('Mention Names or IDs', 'mentions', 'getMembers', 'Members to notify'), idempotencyKey],
  },
]

const transferOperations: Operation[] = [
  {
    ...post,
    value: 'handOver',
    name: 'Hand Over',
    action: 'Hand over to people',
    description: 'Hand a conversation of yours over to people, with a summary',
    path: `${one}/hand-over`,
    fields: [
      conversationId,
      summary,
      reason,
      urgency,
      {
        displayName: 'Closing Message',
        name: 'closing',
        type: 'string',
        default: '',
        placeholder: 'e.g. A colleague will help you with this.',
        description: 'Sent to the customer before the handover; empty: nothing is sent',
      },
    ],
    more: [nextStep, fromList('Assign to Name or ID', 'assignedTo', 'getMembers', 'Member who gets it')],
  },
  {
    ...post,
    value: 'handToAgent',
    name: 'Hand to Agent',
    action: 'Hand to another agent',
    description: 'Hand a conversation of yours over to another agent, with a summary',
    path: `${one}/hand-to-agent`,
    fields: [
      conversationId,
      { ...fromList('Agent Name or ID', 'keyId', 'getAgents', 'Key of the other agent'), required: true },
      summary,
      reason,
      urgency,
    ],
    more: [nextStep],
  },
  {
    ...post,
    value: 'take',
    name: 'Take',
    action: 'Take an offered conversation',
    description: 'Make an unowned conversation yours. Fails for conversations of people.',
    path: `${one}/take`,
    fields: [conversationId],
  },
]

const statusOperations: Operation[] = [
  {
    ...post,
    value: 'label',
    name: 'Label',
    action: 'Label a conversation',
    description: 'Add or remove labels; other labels stay',
    path: `${one}/labels`,
    fields: [
      conversationId,
      multiFromList('Add Label Names or IDs', 'labelIds', 'getLabels', 'Labels to add'),
      multiFromList('Remove Label Names or IDs', 'removeLabelIds', 'getLabels', 'Labels to remove'),
    ],
  },
  {
    ...post,
    value: 'resolve',
    name: 'Resolve',
    action: 'Resolve a conversation',
    description: 'Mark it as resolved. It reopens when the customer writes again.',
    path: `${one}/resolve`,
    fields: [conversationId],
  },
  {
    ...post,
    value: 'setMarketingConsent',
    name: 'Set Marketing Consent',
    action: 'Set marketing consent',
    description: 'Record that the customer asked for no more marketing messages, or for them again',
    path: `${one}/marketing-consent`,
    fields: [
      conversationId,
      {
        displayName: 'Decision',
        name: 'decision',
        type: 'options',
        default: 'opted_out',
        options: [
          { name: 'Opted In', value: 'opted_in' },
          { name: 'Opted Out', value: 'opted_out' },
        ],
        description: 'What the customer asked for',
      },
    ],
  },
  {
    ...post,
    value: 'snooze',
    name: 'Snooze',
    action: 'Snooze a conversation',
    description: 'Snooze it until a time or until the customer writes, whichever comes first',
    path: `${one}/snooze`,
    fields: [
      conversationId,
      {
        displayName: 'Until',
        name: 'until',
        type: 'dateTime',
        default: '',
        description: 'In the timezone of the workflow. Empty: until the customer writes.',
      },
    ],
  },
]

const readOperations: Operation[] = [
  {
    ...shared,
    method: 'GET',
    value: 'get',
    name: 'Get',
    action: 'Get a conversation',
    description: 'Get its newest messages, notes, handovers and changes, and the lead of the customer',
    path: one,
    fields: [conversationId],
    more: [
      {
        displayName: 'Messages',
        name: 'messages',
        type: 'number',
        typeOptions: { minValue: 1, maxValue: 100 },
        default: 30,
        description: 'Number of newest messages',
      },
      {
        displayName: 'Before',
        name: 'before',
        type: 'dateTime',
        default: '',
        description: 'Only messages before this time, in the timezone of the workflow unless it names one',
      },
    ],
  },
  {
    ...shared,
    method: 'GET',
    value: 'getAll',
    name: 'Get Many',
    action: 'Get many conversations',
    description: 'List conversations with owner, labels, last message and whether the customer is waiting',
    path: '/conversations',
    list: 'conversations',
    isPaged: true,
    fields: [
      {
        displayName: 'Owner',
        name: 'owner',
        type: 'options',
        options: [
          { name: 'You', value: 'you' },
          { name: 'People', value: 'people' },
          { name: 'Agents', value: 'agents' },
          { name: 'Anyone', value: 'anyone' },
        ],
        default: 'you',
        description: 'Filter by owner. "You" is the agent of this API key.',
      },
    ],
    more: [
      connectionId,
      fromList('Label Name or ID', 'labelId', 'getLabels', 'Only conversations with this label'),
      {
        displayName: 'Phone',
        name: 'phone',
        type: 'string',
        default: '',
        placeholder: '5581991234567',
        description: 'Exact number of the customer: digits with country code',
      },
      {
        displayName: 'Status',
        name: 'status',
        type: 'options',
        options: [
          { name: 'Closed', value: 'closed' },
          { name: 'Open', value: 'open' },
          { name: 'Pending', value: 'pending' },
          { name: 'Resolved', value: 'resolved' },
          { name: 'Snoozed', value: 'snoozed' },
        ],
        default: 'open',
        description: 'Only conversations with this status',
      },
      {
        displayName: 'Waiting',
        name: 'waiting',
        type: 'boolean',
        default: true,
        description: 'Whether to list only conversations in which the customer is waiting, longest first',
      },
    ],
  },
]

export const conversationOperations = [
  ...answers,
  ...messageOperations,
  ...transferOperations,
  ...statusOperations,
  ...followUps,
  ...readOperations,
]
