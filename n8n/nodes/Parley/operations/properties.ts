import type { INodeProperties } from 'n8n-workflow'
import { conversationOperations } from './conversation.ts'
import { leadOperations } from './lead.ts'
import type { Operation } from './operation.ts'
import { workspaceOperations } from './workspace.ts'

export const operations: readonly Operation[] = [...conversationOperations, ...leadOperations, ...workspaceOperations]

const resources: Operation['resource'][] = ['conversation', 'lead', 'workspace']

/** Returns all properties of the node: resource, operation, and the fields of each operation. */
export function allProperties(): INodeProperties[] {
  return [
    {
      displayName: 'Resource',
      name: 'resource',
      type: 'options',
      noDataExpression: true,
      options: [
        { name: 'Conversation', value: 'conversation' },
        { name: 'Lead', value: 'lead' },
        { name: 'Workspace', value: 'workspace' },
      ],
      default: 'conversation',
    },
    ...resources.map(operationChoice),
    ...operations.flatMap(fieldsOf),
  ]
}

function operationChoice(resource: Operation['resource']): INodeProperties {
  const own = operations.filter((operation) => operation.resource === resource)
  const options = own.map(({ name, value, action, description }) => ({ name, value, action, description }))
  return {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: [resource] } },
    options: options.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    default: own[0]?.value,
  }
}

function fieldsOf({ resource, value, fields, more, isPaged }: Operation): INodeProperties[] {
  const show = { resource: [resource], operation: [value] }
  const own = fields.map((field) => ({ ...field, displayOptions: { show } }))
  const paging = isPaged ? pagingFields(show) : []
  if (more === undefined) return [...own, ...paging]
  const added: INodeProperties = {
    displayName: isPaged ? 'Filters' : 'Additional Fields',
    name: 'more',
    type: 'collection',
    default: {},
    displayOptions: { show },
    options: more,
  }
  return [...own, ...paging, added]
}

function pagingFields(show: { [name: string]: string[] }): INodeProperties[] {
  return [
    {
      displayName: 'Return All',
      name: 'returnAll',
      type: 'boolean',
      default: false,
      displayOptions: { show },
      description: 'Whether to return all results or only up to a given limit',
    },
    {
      displayName: 'Limit',
      name: 'limit',
      type: 'number',
      typeOptions: { minValue: 1 },
      default: 50,
      displayOptions: { show: { ...show, returnAll: [false] } },
      description: 'Max number of results to return',
    },
  ]
}
