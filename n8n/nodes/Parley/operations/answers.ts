import type { IDataObject, INodeProperties } from 'n8n-workflow'
import { binaryField, conversationId, idempotencyKey, type Operation, template, templateOf } from './operation.ts'

const answer = {
  resource: 'conversation',
  method: 'POST',
  path: '/conversations/:conversation_id/answer',
  hasIdempotencyKey: true,
} as const

const textField = (displayName: string, name: string, description: string): INodeProperties => ({
  displayName,
  name,
  type: 'string',
  default: '',
  description,
})
const text: INodeProperties = {
  ...textField('Text', 'text', 'Text to send, unchanged'),
  typeOptions: { rows: 4 },
  required: true,
}
const buttonTitle: INodeProperties = {
  ...textField('Button', 'title', 'Label of the button. At most 20 characters.'),
  required: true,
}
const quotedMessageId = textField('Quoted Message ID', 'quotedMessageId', 'Message to quote above this one')

const afterMessageId = textField(
  'After Message ID',
  'afterMessageId',
  'The newest message that the workflow has seen, such as {{ $json.messages.at(-1).id }} of Parley Work Trigger. If the customer has written since, nothing is sent: the node fails with CUSTOMER_WROTE_AGAIN, and the trigger starts the workflow again with all messages. Empty: the answer is sent.',
)

const fileKind: INodeProperties = {
  displayName: 'Kind',
  name: 'kind',
  type: 'options',
  options: [
    { name: 'By Media Type', value: '' },
    { name: 'Audio', value: 'audio' },
    { name: 'Document', value: 'document' },
    { name: 'Image', value: 'image' },
    { name: 'Sticker', value: 'sticker' },
    { name: 'Video', value: 'video' },
    { name: 'Voice', value: 'voice', description: 'Sent as a voice message' },
  ],
  default: '',
  description: 'How the customer sees the file',
}

function fileOf({ upload_id, caption, ...rest }: IDataObject): IDataObject {
  return { ...rest, file: { upload_id, ...(caption !== undefined && { caption }) } }
}

const footer = textField('Footer', 'footer', 'Small text below. At most 60 characters.')
const choiceId = textField(
  'ID',
  'id',
  'Returned as chosen.id in the message of the customer. Empty: its position, from 1.',
)

const buttons: INodeProperties = {
  displayName: 'Buttons',
  name: 'buttons',
  type: 'fixedCollection',
  typeOptions: { multipleValues: true, maxAllowedFields: 3 },
  default: {},
  required: true,
  description: 'One to three buttons',
  options: [
    {
      displayName: 'Button',
      name: 'button',
      values: [textField('Title', 'title', 'Label. At most 20 characters.'), choiceId],
    },
  ],
}

const rows: INodeProperties = {
  ...buttons,
  displayName: 'Rows',
  name: 'rows',
  typeOptions: { multipleValues: true, maxAllowedFields: 10 },
  description: 'One to ten rows',
  options: [
    {
      displayName: 'Row',
      name: 'row',
      values: [
        textField('Title', 'title', 'Label. At most 24 characters.'),
        textField('Description', 'description', 'Text below the title. At most 72 characters.'),
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

function linkOf({ text, footer, title, url, ...rest }: IDataObject): IDataObject {
  return { ...rest, link: { text, footer, title, url } }
}

function flowOf({ text, footer, title, flow_id, ...rest }: IDataObject): IDataObject {
  return { ...rest, flow: { text, footer, title, flow_id } }
}

/** Returns the filled-in entries, without empty fields. */
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
    description: 'Send the customer a text. Only in a conversation of yours.',
    fields: [conversationId, text],
    more: [quotedMessageId, afterMessageId, idempotencyKey],
  },
  {
    ...answer,
    value: 'answerWithFile',
    name: 'Answer With File',
    action: 'Answer with a file',
    description: 'Send the customer an image, a video, an audio file or a document',
    fields: [
      conversationId,
      { ...binaryField, required: true, default: 'data' },
      fileKind,
      textField('Caption', 'caption', 'Caption of an image, a video or a document'),
    ],
    more: [
      textField('File Name', 'fileName', 'Shown to customers for documents. Empty: the name of the file.'),
      quotedMessageId,
      afterMessageId,
      idempotencyKey,
    ],
    toRequest: fileOf,
  },
  {
    ...answer,
    value: 'answerWithButtons',
    name: 'Answer With Buttons',
    action: 'Answer with buttons',
    description: 'Send the customer a text with up to three buttons to choose from',
    fields: [conversationId, text, buttons],
    more: [footer, quotedMessageId, afterMessageId, idempotencyKey],
    toRequest: buttonsOf,
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
      { ...textField('Button', 'button', 'Label of the button that opens the list'), required: true },
      rows,
    ],
    more: [footer, quotedMessageId, afterMessageId, idempotencyKey],
    toRequest: listOf,
  },
  {
    ...answer,
    value: 'answerWithLink',
    name: 'Answer With Link',
    action: 'Answer with a link',
    description: 'Send the customer a text with a button that opens a web page',
    fields: [conversationId, text, buttonTitle, { ...textField('URL', 'url', 'Address of the page'), required: true }],
    more: [footer, quotedMessageId, afterMessageId, idempotencyKey],
    toRequest: linkOf,
  },
  {
    ...answer,
    value: 'answerWithForm',
    name: 'Answer With Form',
    action: 'Answer with a form',
    description: 'Send the customer a text with a button that opens a form of the platform',
    fields: [
      conversationId,
      text,
      buttonTitle,
      { ...textField('Form ID', 'flowId', 'ID of the published form at the platform'), required: true },
    ],
    more: [footer, quotedMessageId, afterMessageId, idempotencyKey],
    toRequest: flowOf,
  },
  {
    ...answer,
    value: 'requestLocation',
    name: 'Request Location',
    action: 'Request a location',
    description: 'Send the customer a text with a button that shares a location',
    fields: [conversationId, text],
    more: [quotedMessageId, afterMessageId, idempotencyKey],
    toRequest: ({ text, ...rest }) => ({ ...rest, location_request: { text } }),
  },
  {
    ...answer,
    value: 'requestPhone',
    name: 'Request Phone Number',
    action: 'Request the phone number',
    description: 'Send the customer a text with a button that shares their phone number',
    fields: [conversationId, text],
    more: [quotedMessageId, afterMessageId, idempotencyKey],
    toRequest: ({ text, ...rest }) => ({ ...rest, contact_request: { text } }),
  },
  {
    ...answer,
    value: 'requestAddress',
    name: 'Request Address',
    action: 'Request an address',
    description: 'Send the customer a text with a button for a postal address; only between numbers in India',
    fields: [conversationId, text],
    more: [quotedMessageId, afterMessageId, idempotencyKey],
    toRequest: ({ text, ...rest }) => ({ ...rest, address_request: { text } }),
  },
  {
    ...answer,
    value: 'answerWithTemplate',
    name: 'Answer With Template',
    action: 'Answer with a template',
    description: 'Send an approved template: the only possible answer when the 24-hour window is closed',
    fields: [conversationId, ...template('Template to send')],
    more: [
      {
        ...binaryField,
        displayName: 'Header Input Data Field Name',
        hint: 'For a template with an image, a video or a document in its header',
      },
      afterMessageId,
      idempotencyKey,
    ],
    toRequest: templateOf,
  },
]
