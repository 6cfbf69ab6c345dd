import type { INodeProperties } from 'n8n-workflow'
import { answers } from './answers.ts'
import {
  conversationId,
  fromList,
  idempotencyKey,
  multiFromList,
  type Operation,
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
  description: 'What has happened, for whoever goes on',
}
const reason: INodeProperties = {
  displayName: 'Reason',
  name: 'reason',
  type: 'string',
  default: '',
  placeholder: 'e.g. Refunds need a person',
  description: 'Why it is handed on',
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
  description: 'How soon somebody is needed',
}
const nextStep: INodeProperties = {
  displayName: 'Next Step',
  name: 'nextStep',
  type: 'string',
  default: '',
  placeholder: 'e.g. Check the payment',
  description: 'What is to be done',
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
    value: 'start',
    name: 'Start',
    action: 'Start a conversation with a template',
    description: 'Send a template to a number that has not written, and make the conversation yours',
    path: '/conversations',
    isOnce: true,
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
      ...template('What is sent'),
    ],
    more: [idempotencyKey],
    shape: templateOf,
  },
  {
    ...post,
    value: 'addNote',
    name: 'Add Note',
    action: 'Add a note',
    description: 'Write an internal note, whoever owns the conversation: the customer never sees it',
    path: `${one}/notes`,
    isOnce: true,
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
    more: [
      multiFromList('Mention Names or IDs', 'mentions', 'getMembers', 'Members who are to be told'),
      idempotencyKey,
    ],
  },
]

const transferOperations: Operation[] = [
  {
    ...post,
    value: 'handOver',
    name: 'Hand Over',
    action: 'Hand over to people',
    description: 'Give people a conversation that is yours, with what they must know',
    path: `${one}/hand-over`,
    fields: [
      conversationId,
      summary,
      reason,
      urgency,
      {
        displayName: 'Closing Words',
        name: 'closing',
        type: 'string',
        default: '',
        placeholder: 'e.g. A colleague will help you with this.',
        description: 'What the customer is told before it is handed over; nothing when it is empty',
      },
    ],
    more: [nextStep, fromList('Assign to Name or ID', 'assignedTo', 'getMembers', 'The member whom it is for')],
  },
  {
    ...post,
    value: 'handToAgent',
    name: 'Hand to Agent',
    action: 'Hand to another agent',
    description: 'Give another agent a conversation that is yours, with what it must know',
    path: `${one}/hand-to-agent`,
    fields: [
      conversationId,
      { ...fromList('Agent Name or ID', 'keyId', 'getAgents', 'The key of the other agent'), required: true },
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
    action: 'Take a conversation that is offered',
    description: 'Make a conversation yours that nobody answers. What people hold is refused.',
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
    description: 'Add labels or take them off; others that it has stay',
    path: `${one}/labels`,
    fields: [
      conversationId,
      multiFromList('Add Label Names or IDs', 'labelIds', 'getLabels', 'Those that it gets'),
      multiFromList('Remove Label Names or IDs', 'removeLabelIds', 'getLabels', 'Those that it loses'),
    ],
  },
  {
    ...post,
    value: 'resolve',
    name: 'Resolve',
    action: 'Resolve a conversation',
    description: 'Say that nothing is left to do. When the customer writes again it opens by itself.',
    path: `${one}/resolve`,
    fields: [conversationId],
  },
  {
    ...post,
    value: 'snooze',
    name: 'Snooze',
    action: 'Snooze a conversation',
    description: 'Put it aside until a time, or until the customer writes, whichever comes first',
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
    description: 'Read its newest messages, notes, hand-overs and changes, and the lead that the customer is',
    path: one,
    fields: [conversationId],
    more: [
      {
        displayName: 'Messages',
        name: 'messages',
        type: 'number',
        typeOptions: { minValue: 1, maxValue: 100 },
        default: 30,
        description: 'How many of the newest',
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
    description: 'List conversations with owner, labels, last message and whether the customer waits',
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
        description: 'Whose they are. "You" is the agent of this API key.',
      },
    ],
    more: [
      connectionId,
      fromList('Label Name or ID', 'labelId', 'getLabels', 'Only those with this label'),
      {
        displayName: 'Phone',
        name: 'phone',
        type: 'string',
        default: '',
        placeholder: '5581991234567',
        description: 'Only the one with exactly this customer: digits with country code',
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
        description: 'Only those with this status',
      },
      {
        displayName: 'Waiting',
        name: 'waiting',
        type: 'boolean',
        default: true,
        description: 'Whether to list only those in which the customer waits, longest first',
      },
    ],
  },
]

export const conversationOperations = [
  ...answers,
  ...messageOperations,
  ...transferOperations,
  ...statusOperations,
  ...readOperations,
]
