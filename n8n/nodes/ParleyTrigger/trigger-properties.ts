import type { INodeProperties } from 'n8n-workflow'

export const events = [
  { name: 'Conversation Changed Hands', value: 'inbox.conversation.owner_changed' },
  { name: 'Lead Created', value: 'lead.created' },
  { name: 'Lead Deleted', value: 'lead.deleted' },
  { name: 'Lead Restored', value: 'lead.restored' },
  { name: 'Lead Updated', value: 'lead.updated' },
  { name: 'Message Received', value: 'inbox.message.received', description: 'A customer wrote' },
  {
    name: 'Message Sent',
    value: 'inbox.message.sent',
    description: 'By an agent, this workflow included, by a member, or on the phone of the number itself',
  },
  { name: 'Message Status Changed', value: 'inbox.message.status', description: 'Delivered, read or failed' },
]

export const triggerProperties: INodeProperties[] = [
  {
    displayName: 'Registration',
    name: 'registration',
    type: 'options',
    options: [
      { name: 'By Itself', value: 'byItself', description: 'With a team token, while the workflow is active' },
      { name: 'By Hand', value: 'byHand', description: 'An admin of the workspace pastes the address' },
    ],
    default: 'byItself',
    description: 'How Parley learns of the webhook',
  },
  {
    displayName:
      'Let an admin add the production URL above under Settings → Webhooks in Parley, choose the events there, and give you the signing secret for the credential.',
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
    description: 'What starts the workflow',
    displayOptions: { show: { registration: ['byItself'] } },
  },
  {
    displayName: 'Workspace Name or ID',
    name: 'workspaceId',
    type: 'options',
    typeOptions: { loadOptionsMethod: 'getWorkspaces' },
    default: '',
    description:
      'Only needed for a token that works in several. Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
    displayOptions: { show: { registration: ['byItself'] } },
  },
  {
    displayName: 'Mask Phones',
    name: 'maskPhones',
    type: 'boolean',
    default: false,
    description: 'Whether phones are hidden in all but their first and last digits, wherever they stand',
    displayOptions: { show: { registration: ['byItself'] } },
  },
]
