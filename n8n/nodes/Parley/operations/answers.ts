import type { IDataObject, INodeProperties } from 'n8n-workflow'
import { binaryField, conversationId, idempotencyKey, type Operation, template, templateOf } from './operation.ts'

const answer = {
  resource: 'conversation',
  method: 'POST',
  path: '/conversations/:conversation_id/answer',
  isOnce: true,
} as const

const words = (displayName: string, name: string, description: string): INodeProperties => ({
  displayName,
  name,
  type: 'string',
  default: '',
  description,
})
const text: INodeProperties = {
  ...words('Text', 'text', 'What the customer gets, as it stands'),
  typeOptions: { rows: 4 },
  required: true,
}
const quotedMessageId = words(
  'Quoted Message ID',
  'quotedMessageId',
  'The message that this one answers to: the customer sees it above',
)

const afterMessageId = words(
  'After Message ID',
  'afterMessageId',
  'The newest message that the workflow has seen, such as {{ $json.messages.at(-1).id }} of Parley Work Trigger. What came later stays work.',
)

const fileKind: INodeProperties = {
  displayName: 'Kind',
  name: 'kind',
  type: 'options',
  options: [
    { name: 'By Its Media Type', value: '' },
    { name: 'Audio', value: 'audio' },
    { name: 'Document', value: 'document' },
    { name: 'Image', value: 'image' },
    { name: 'Sticker', value: 'sticker' },
    { name: 'Video', value: 'video' },
    { name: 'Voice', value: 'voice', description: 'As if it had been spoken into the app' },
  ],
  default: '',
  description: 'As what the customer gets it',
}

function fileOf({ upload_id, caption, ...rest }: IDataObject): IDataObject {
  return { ...rest, file: { upload_id, ...(caption !== undefined && { caption }) } }
}

const footer = words('Footer', 'footer', 'Small words below. At most 60 characters.')
const choiceId = words(
  'ID',
  'id',
  'Comes back as chosen.id of the message in which the customer chooses it. Empty: its place, from 1 on.',
)

const buttons: INodeProperties = {
  displayName: 'Buttons',
  name: 'buttons',
  type: 'fixedCollection',
  typeOptions: { multipleValues: true, maxAllowedFields: 3 },
  default: {},
  required: true,
  description: 'One to three',
  options: [
    {
      displayName: 'Button',
      name: 'button',
      values: [words('Title', 'title', 'What it says. At most 20 characters.'), choiceId],
    },
  ],
}

const rows: INodeProperties = {
  ...buttons,
  displayName: 'Rows',
  name: 'rows',
  typeOptions: { multipleValues: true, maxAllowedFields: 10 },
  description: 'One to ten',
  options: [
    {
      displayName: 'Row',
      name: 'row',
      values: [
        words('Title', 'title', 'What it says. At most 24 characters.'),
        words('Description', 'description', 'Stands below. At most 72 characters.'),
        choiceId,
      ],
    },
  ],
}

function buttonsOf({ text, footer, buttons, ...rest }: IDataObject): IDataObject {
  return { ...rest, choices: { text, footer, buttons: choicesIn(buttons, 'button') } }
}

function listOf({ text, footer, button, rows, ...rest }: IDataObject): IDataObject {
  return { ...rest, choices: { text, footer, list: { button, rows: choicesIn(rows, 'row') } } }
}

/** Those that somebody has filled in, without what they left empty. */
function choicesIn(collection: unknown, name: string): IDataObject[] {
  const all = (collection as { [name: string]: IDataObject[] } | undefined)?.[name] ?? []
  return all.map((one) => Object.fromEntries(Object.entries(one).filter(([, value]) => value !== '')))
}

export const answers: Operation[] = [
  {
    ...answer,
    value: 'answer',
    name: 'Answer',
    action: 'Answer the customer',
    description: 'Send the customer a text. Only in a conversation that is yours.',
    fields: [conversationId, text],
    more: [quotedMessageId, afterMessageId, idempotencyKey],
  },
  {
    ...answer,
    value: 'answerWithFile',
    name: 'Answer With File',
    action: 'Answer with a file',
    description: 'Send the customer a picture, a video, a sound or a document',
    fields: [
      conversationId,
      { ...binaryField, required: true, default: 'data' },
      fileKind,
      words('Caption', 'caption', 'The words below an image, a video or a document'),
    ],
    more: [
      words('File Name', 'fileName', 'Customers see it of a document. Empty: the name that the file has.'),
      quotedMessageId,
      afterMessageId,
      idempotencyKey,
    ],
    shape: fileOf,
  },
  {
    ...answer,
    value: 'answerWithButtons',
    name: 'Answer With Buttons',
    action: 'Answer with buttons',
    description: 'Send the customer a text with up to three buttons to choose from',
    fields: [conversationId, text, buttons],
    more: [footer, quotedMessageId, afterMessageId, idempotencyKey],
    shape: buttonsOf,
  },
  {
    ...answer,
    value: 'answerWithList',
    name: 'Answer With List',
    action: 'Answer with a list',
    description: 'Send the customer a text with a list of up to ten rows to choose from',
    fields: [
      conversationId,
      text,
      { ...words('Button', 'button', 'What the button says that opens the list'), required: true },
      rows,
    ],
    more: [footer, quotedMessageId, afterMessageId, idempotencyKey],
    shape: listOf,
  },
  {
    ...answer,
    value: 'answerWithTemplate',
    name: 'Answer With Template',
    action: 'Answer with a template',
    description: 'Send an approved template: the only answer once the 24-hour window is closed',
    fields: [conversationId, ...template('What is sent')],
    more: [
      {
        ...binaryField,
        displayName: 'Header Input Data Field Name',
        hint: 'For a template that has a picture, a video or a document in its header',
      },
      afterMessageId,
      idempotencyKey,
    ],
    shape: templateOf,
  },
]
