import { fromList, type Operation, template } from './operation.ts'

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
  {
    resource: 'workspace',
    method: 'POST',
    value: 'prepareBroadcast',
    name: 'Prepare a Broadcast',
    action: 'Prepare a broadcast',
    description: 'Draft a template to many leads, which people check and start',
    path: '/broadcasts',
    fields: [
      {
        displayName: 'Name',
        name: 'name',
        type: 'string',
        default: '',
        required: true,
        placeholder: 'e.g. Spring sale',
        description: 'For the team',
      },
      {
        ...fromList('Connection Name or ID', 'connectionId', 'getConnections', 'The number to send from'),
        required: true,
      },
      ...template('The template').slice(0, 1),
      {
        displayName: 'Lead Fields',
        name: 'leadFields',
        type: 'string',
        typeOptions: { multipleValues: true },
        default: [],
        description:
          'Fields of the lead that fill {{1}}, {{2}} and so on, such as firstName, or firstName|there with a fallback',
      },
    ],
    more: [
      {
        displayName: 'Status',
        name: 'status',
        type: 'string',
        default: '',
        placeholder: 'e.g. qualified',
        description: 'Only leads of these statuses, separated by commas',
      },
    ],
    toRequest: ({ template: named, lead_fields, ...rest }) => {
      const [name, ...language] = String(named ?? '').split('/')
      const parts = { template_name: name, template_language: language.join('/') }
      return { ...rest, ...parts, variables: [lead_fields ?? []].flat().map(String) }
    },
  },
  {
    resource: 'workspace',
    method: 'GET',
    value: 'readArticle',
    name: 'Read Article',
    action: 'Read an article',
    description: 'The text of an article of the team, in parts if it is long',
    path: '/knowledge/articles/:article_id',
    fields: [
      {
        displayName: 'Article ID',
        name: 'articleId',
        type: 'string',
        default: '',
        required: true,
        placeholder: 'e.g. 01985e2a-0000-7000-8000-000000000001',
        description: 'From Search Knowledge',
      },
    ],
    more: [
      {
        displayName: 'Offset',
        name: 'offset',
        type: 'number',
        typeOptions: { minValue: 0 },
        default: 0,
        description: 'Where the part begins: next_offset of the part before',
      },
    ],
  },
  {
    resource: 'workspace',
    method: 'GET',
    value: 'searchKnowledge',
    name: 'Search Knowledge',
    action: 'Search what the team knows',
    description: 'Published articles and answers of the team, the best first',
    path: '/knowledge/search',
    list: 'articles',
    fields: [
      {
        displayName: 'Query',
        name: 'query',
        type: 'string',
        default: '',
        required: true,
        placeholder: 'e.g. return shoes',
        description: 'The question, or words of it',
      },
    ],
    more: [
      {
        displayName: 'Language',
        name: 'language',
        type: 'string',
        default: '',
        placeholder: 'e.g. pt',
        description: 'Only articles in this language',
      },
    ],
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
