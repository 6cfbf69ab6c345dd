import type { IDataObject, INodeProperties } from 'n8n-workflow'
import { fromList, type Operation } from './operation.ts'

const text = (displayName: string, name: string, description: string): INodeProperties => ({
  displayName,
  name,
  type: 'string',
  default: '',
  description,
})
const amount = (displayName: string, name: string): INodeProperties => ({
  displayName,
  name,
  type: 'number',
  default: 0,
  description: 'At most two decimals',
})

const firstName = text('First Name', 'firstName', 'The only required field of a new lead')
const source: INodeProperties = {
  displayName: 'Source',
  name: 'source',
  type: 'options',
  options: [
    { name: 'Ads', value: 'ads' },
    { name: 'Chat App', value: 'chat_app' },
    { name: 'Email', value: 'email' },
    { name: 'Event', value: 'event' },
    { name: 'Other', value: 'other' },
    { name: 'Phone', value: 'phone' },
    { name: 'Referral', value: 'referral' },
    { name: 'Social', value: 'social' },
    { name: 'Website', value: 'website' },
  ],
  default: 'website',
  description: 'Where the lead came from',
}
const assignedTo = fromList('Assign to Name or ID', 'assignedTo', 'getMembers', 'Member who handles the lead')

const customFields: INodeProperties = {
  displayName: 'Custom Fields',
  name: 'customFields',
  type: 'fixedCollection',
  typeOptions: { multipleValues: true },
  default: {},
  description: 'At most 10 per lead',
  options: [
    {
      displayName: 'Field',
      name: 'field',
      values: [
        text('Key', 'key', 'Lowercase letters, digits and _, starting with a letter'),
        text('Value', 'value', 'Empty removes the field'),
      ],
    },
  ],
}

const rest: INodeProperties[] = [
  {
    displayName: 'Ad Platform',
    name: 'adPlatform',
    type: 'options',
    options: [
      { name: 'ChatGPT', value: 'chatgpt' },
      { name: 'Google', value: 'google' },
      { name: 'LinkedIn', value: 'linkedin' },
      { name: 'Meta', value: 'meta' },
      { name: 'Other', value: 'other' },
      { name: 'TikTok', value: 'tiktok' },
      { name: 'X', value: 'x' },
    ],
    default: 'meta',
    description: 'Ad platform that the lead came from',
  },
  amount('Actual Value', 'actualValue'),
  assignedTo,
  customFields,
  { ...text('Email', 'email', 'At most 254 characters'), placeholder: 'name@email.com' },
  amount('Estimated Value', 'estimatedValue'),
  text('External Ref', 'externalRef', 'Your own reference, unique in the workspace'),
  text('Last Name', 'lastName', 'At most 255 characters'),
  { ...text('Notes', 'notes', 'Notes for the team'), typeOptions: { rows: 4 } },
  { ...text('Phone', 'phone', 'With country code'), placeholder: '+55 81 99123-4567' },
  {
    displayName: 'Priority',
    name: 'priority',
    type: 'options',
    options: [
      { name: 'Low', value: 'low' },
      { name: 'Medium', value: 'medium' },
      { name: 'High', value: 'high' },
      { name: 'Urgent', value: 'urgent' },
    ],
    default: 'medium',
    description: 'Priority of the lead',
  },
  source,
  text('Status', 'status', 'Such as new, qualified or customer'),
  text('Unique Code', 'uniqueCode', 'Short code of the lead; generated when not sent'),
]

const identifier: INodeProperties = {
  ...text('Lead', 'identifier', 'ID, unique code, external reference or phone, tried in that order'),
  required: true,
}

interface CustomFields {
  field?: { key: string; value: string }[]
}

function leadOf({ custom_fields, ...fields }: IDataObject): IDataObject {
  const definedFields = (custom_fields as CustomFields | undefined)?.field ?? []
  if (definedFields.length === 0) return fields
  const values = Object.fromEntries(definedFields.map(({ key, value }) => [key, value === '' ? null : value]))
  return { ...fields, custom_field_values: values }
}

function upsertOf({ match_by, match_value, create_if_missing, ...fields }: IDataObject): IDataObject {
  return { match: { by: match_by, value: match_value }, create_if_missing, lead: leadOf(fields) }
}

const appendNotes: INodeProperties = {
  ...text('Append Notes', 'appendNotes', 'Adds a line to the notes. The field Notes replaces them.'),
  typeOptions: { rows: 4 },
}

const writeOperations: Operation[] = [
  {
    resource: 'lead',
    method: 'POST',
    value: 'create',
    name: 'Create',
    action: 'Create a lead',
    description: 'Create a new lead. If the person may be a lead already, use Create or Update with their phone.',
    path: '/leads',
    fields: [{ ...firstName, required: true }],
    more: rest,
    toRequest: leadOf,
  },
  {
    resource: 'lead',
    method: 'POST',
    value: 'upsert',
    name: 'Create or Update',
    action: 'Create or update a lead',
    description: 'Create a new record, or update the current one if it already exists (upsert)',
    path: '/leads/upsert',
    fields: [
      {
        displayName: 'Match By',
        name: 'matchBy',
        type: 'options',
        options: [
          { name: 'Phone', value: 'phone' },
          { name: 'External Ref', value: 'external_ref' },
          { name: 'Unique Code', value: 'unique_code' },
          { name: 'ID', value: 'id' },
        ],
        default: 'phone',
        description: 'Field to find an existing lead by',
      },
      { ...text('Match Value', 'matchValue', 'Its value; a phone in any format'), required: true },
      {
        displayName: 'Create If Missing',
        name: 'createIfMissing',
        type: 'boolean',
        default: true,
        description: 'Whether to create a lead if none matches',
      },
    ],
    more: [appendNotes, firstName, ...rest],
    toRequest: upsertOf,
  },
  {
    resource: 'lead',
    method: 'PATCH',
    value: 'update',
    name: 'Update',
    action: 'Update a lead',
    description: 'Set fields of one lead. Other fields stay unchanged. The expression {{ null }} clears a field.',
    path: '/leads/:identifier',
    fields: [identifier],
    more: [appendNotes, firstName, ...rest],
    toRequest: leadOf,
  },
]

const readOperations: Operation[] = [
  {
    resource: 'lead',
    method: 'GET',
    value: 'get',
    name: 'Get',
    action: 'Get a lead',
    description: 'Get one lead',
    path: '/leads/:identifier',
    fields: [identifier],
  },
  {
    resource: 'lead',
    method: 'GET',
    value: 'getAll',
    name: 'Get Many',
    action: 'Get many leads',
    description: 'Find leads by part of name, email, phone or code, by status or source; newest first',
    path: '/leads',
    list: 'leads',
    isPaged: true,
    fields: [text('Search', 'search', 'Part of name, email, phone, unique code or external reference. Empty: all.')],
    more: [assignedTo, source, text('Status', 'status', 'One status, or several separated by commas')],
  },
]

export const leadOperations = [...writeOperations, ...readOperations]
