import type { IDataObject, INodeProperties } from 'n8n-workflow'

/** A verb of the interface for agents, as the node shows it. The names of fields are those of the verb, in camelCase. */
export interface Operation {
  resource: 'conversation' | 'lead' | 'workspace'
  value: string
  name: string
  action: string
  description: string
  method: 'GET' | 'POST' | 'PATCH'
  /** The names in it (`:conversation_id`) are fields. */
  path: string
  fields: INodeProperties[]
  /** Shown when they are added. */
  more?: INodeProperties[]
  /** Takes an `idempotency_key`: the node makes one, so that n8n's retries are done once. */
  isOnce?: true
  /** The list of its answer that becomes items. */
  list?: string
  /** The list goes on over several pages. */
  isPaged?: true
  /**
   * What is asked for; the fields as they are, unless the verb wants them otherwise. Where the field `binaryPropertyName` names a file, it
   * has been brought, and `upload_id` is there in its place.
   */
  shape?: (fields: IDataObject) => IDataObject
}

export const conversationId: INodeProperties = {
  displayName: 'Conversation ID',
  name: 'conversationId',
  type: 'string',
  default: '',
  required: true,
  placeholder: 'e.g. 01985e2a-0000-7000-8000-000000000001',
  description: 'As the triggers and Get Many give it',
}

export const idempotencyKey: INodeProperties = {
  displayName: 'Idempotency Key',
  name: 'idempotencyKey',
  type: 'string',
  default: '',
  description:
    'One key is done once. Left out, it is made of execution, node, item and content: a retry of the node does nothing twice.',
}

/** The node brings what is in it, before it asks. */
export const binaryField: INodeProperties = {
  displayName: 'Input Data Field Name',
  name: 'binaryPropertyName',
  type: 'string',
  default: '',
  description: 'The name of the binary field of the item that has the file',
}

/** One field in place of two: the names of templates have no slash. */
export const template = (description: string): INodeProperties[] => [
  {
    displayName: 'Template Name or ID',
    name: 'template',
    type: 'options',
    typeOptions: { loadOptionsMethod: 'getTemplates' },
    default: '',
    required: true,
    description: `${description}. Choose from the list, or specify <code>name/language</code> using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.`,
  },
  {
    displayName: 'Template Values',
    name: 'bodyParams',
    type: 'string',
    typeOptions: { multipleValues: true },
    default: [],
    description: 'What takes the places of {{1}}, {{2}} and so on, in this order',
  },
]

export function templateOf({ template: named, body_params = [], upload_id, ...rest }: IDataObject): IDataObject {
  const [name, ...language] = String(named ?? '').split('/')
  const header = upload_id === undefined ? {} : { header_upload_id: upload_id }
  return { ...rest, template: { name, language: language.join('/'), body_params, ...header } }
}

export const fromList = (displayName: string, name: string, loadOptionsMethod: string, hint: string) =>
  ({
    displayName,
    name,
    type: 'options',
    typeOptions: { loadOptionsMethod },
    default: '',
    description:
      'Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
    hint,
  }) satisfies INodeProperties

export const multiFromList = (displayName: string, name: string, loadOptionsMethod: string, hint: string) =>
  ({
    ...fromList(displayName, name, loadOptionsMethod, hint),
    type: 'multiOptions',
    default: [],
    description:
      'Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
  }) satisfies INodeProperties
