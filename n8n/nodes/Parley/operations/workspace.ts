import type { Operation } from './operation.ts'

const list = (value: string, name: string, path: string, found: string, description: string): Operation => ({
  resource: 'workspace',
  method: 'GET',
  value,
  name,
  action: name,
  description,
  path,
  list: found,
  fields: [],
})

export const workspaceOperations: Operation[] = [
  list('getCannedReplies', 'Get Canned Replies', '/canned-replies', 'canned_replies', 'Texts for common questions'),
  list('getConnections', 'Get Connections', '/connections', 'connections', 'The numbers that customers write to'),
  list('getLabels', 'Get Labels', '/labels', 'labels', 'The labels of conversations'),
  {
    resource: 'workspace',
    method: 'GET',
    value: 'getPeople',
    name: 'Get People',
    action: 'Get people and agents',
    description: 'The members and agents of the team',
    path: '/people',
    fields: [],
  },
  list('getTemplates', 'Get Templates', '/templates', 'templates', 'Approved templates'),
  {
    resource: 'workspace',
    method: 'GET',
    value: 'whoAmI',
    name: 'Who Am I',
    action: 'Get the current API key',
    description: 'The key with its permissions, limits and instructions, and the workspace',
    path: '/me',
    fields: [],
  },
]
