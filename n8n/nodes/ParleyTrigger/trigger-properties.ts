import type { INodeProperties } from 'n8n-workflow'

export const events = [
  { name: 'Conversation Assigned', value: 'conversation.assigned' },
  { name: 'Conversation Consent Changed', value: 'inbox.conversation.consent_changed' },
  { name: 'Conversation Labels Changed', value: 'conversation.labelled' },
  { name: 'Conversation Owner Changed', value: 'inbox.conversation.owner_changed' },
  { name: 'Conversation Rated', value: 'conversation.rated' },
  { name: 'Conversation Standby Changed', value: 'inbox.conversation.standby_changed' },
  {
    name: 'Conversation Status Changed',
    value: 'conversation.status_changed',
    description: 'Resolved, snoozed or opened',
  },
  { name: 'Draft Decided', value: 'inbox.draft.decided', description: 'A person sent, edited or rejected it' },
  { name: 'Draft Proposed', value: 'inbox.draft.proposed' },
  { name: 'Lead Created', value: 'lead.created' },
  { name: 'Lead Deleted', value: 'lead.deleted' },
  { name: 'Lead Merged', value: 'lead.merged', description: 'Another lead was merged into it' },
  { name: 'Lead Restored', value: 'lead.restored' },
  { name: 'Lead Updated', value: 'lead.updated' },
  { name: 'Message Received', value: 'inbox.message.received', description: 'A customer wrote' },
  {
    name: 'Message Sent',
    value: 'inbox.message.sent',
    description: 'By an agent (including this workflow), by a member, or from the linked phone',
  },
  { name: 'Message Status Changed', value: 'inbox.message.status', description: 'Delivered, read or failed' },
  { name: 'Note Added', value: 'conversation.note_added', description: 'By a member or an agent' },
  { name: 'Scheduled Message Failed', value: 'inbox.scheduled_message.failed', description: 'One of an agent' },
  { name: 'Task Due', value: 'task.due' },
]

export const triggerProperties: INodeProperties[] = [
  {
    displayName: 'Registration',
    name: 'registration',
    type: 'options',
    options: [
      { name: 'Automatic', value: 'byItself', description: 'With a team token, while the workflow is active' },
      { name: 'Manual', value: 'byHand', description: 'An admin of the workspace adds the URL' },
    ],
    default: 'byItself',
    description: 'How the webhook is registered in Parley',
  },
  {
    displayName:
      'Ask an admin to add the production URL above under Settings → Webhooks in Parley, to choose the events there, and to send you the signing secret for the credential.',
    name: 'byHandNotice',
    type: 'notice',
    default: '',
    displayOptions: { show: { registration: ['byHand'] } },
  },
  {
    displayName: 'Events',
    name: 'events',
    type: 'multiOptions',
    options: events,
    default: ['inbox.message.received'],
    required: true,
    description: 'Events that start the workflow',
    displayOptions: { show: { registration: ['byItself'] } },
  },
  {
    displayName: 'Workspace Name or ID',
    name: 'workspaceId',
    type: 'options',
    typeOptions: { loadOptionsMethod: 'getWorkspaces' },
    default: '',
    description:
      'Required only if the token has several workspaces. Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
    displayOptions: { show: { registration: ['byItself'] } },
  },
  {
    displayName: 'Mask Phones',
    name: 'maskPhones',
    type: 'boolean',
    default: false,
    description: 'Whether phone numbers show only their first and last digits, in all fields',
    displayOptions: { show: { registration: ['byItself'] } },
  },
]
