import type { Client, Message, Pending } from './client.ts'
import { linked, linkTo, make } from './elements.ts'
import type { Words } from './texts.ts'

interface MessageActions {
  client: Client
  words: Words
  title: string
}

/** Draws a message. */
export function drawMessage(message: Message, actions: MessageActions): HTMLElement {
  const { words, title } = actions
  const isOwn = message.direction === 'inbound'
  const time = new Date(message.at)
  const { about, file, link, choices, text } = message
  return make(
    'div',
    { class: `message ${isOwn ? 'own' : 'theirs'}`, 'data-id': message.id },
    make('span', { class: 'hidden' }, `${isOwn ? words.you : title}: `),
    about !== undefined && about.text !== '' && make('blockquote', {}, about.text),
    file !== undefined && drawFile(file, actions),
    text !== '' && make('p', {}, ...linked(text)),
    link !== undefined && withClass(linkTo(link.url, link.title), 'action'),
    choices !== undefined && drawChoices(message.id, choices, actions.client),
    make('time', { datetime: message.at }, time.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })),
  )
}

function withClass<E extends HTMLElement>(element: E | null, name: string): E | null {
  element?.classList.add(name)
  return element
}

function drawChoices(messageId: string, choices: NonNullable<Message['choices']>, client: Client): HTMLElement {
  const options = 'list' in choices ? choices.list.rows : choices.buttons
  const buttons = options.map(({ id: optionId, title, description }) =>
    make(
      'button',
      { type: 'button', class: 'action', click: () => client.send({ text: title, chosen: { messageId, optionId } }) },
      title,
      description !== undefined && make('small', {}, description),
    ),
  )
  const { footer } = choices
  return make('div', { class: 'choices' }, ...buttons, footer !== undefined && make('small', {}, footer))
}

const shownTypes = ['image/jpeg', 'image/png', 'image/webp']

function drawFile(file: NonNullable<Message['file']>, { client, words }: MessageActions): HTMLElement {
  const { id, mimeType } = file
  const name = file.name ?? words.chat
  if (id === null) return make('p', { class: 'file' }, `📎 ${name}`)
  const download = () => void save(client, id, name)
  const button = make(
    'button',
    { type: 'button', class: 'action', 'aria-label': words.download(name), click: download },
    `📎 ${name}`,
  )
  if (!shownTypes.includes(mimeType)) return button
  const image = make('img', { alt: name })
  void client
    .file(id)
    .then((blob) => {
      // Typed by us: the bytes are shown as an image or not at all.
      image.src = URL.createObjectURL(new Blob([blob], { type: mimeType }))
    })
    .catch(() => image.replaceWith(button))
  return image
}

async function save(client: Client, id: string, name: string): Promise<void> {
  const blob = await client.file(id).catch(() => null)
  if (blob === null) return
  const url = URL.createObjectURL(new Blob([blob], { type: 'application/octet-stream' }))
  make('a', { href: url, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

/** Draws a message that is on its way. */
export function drawPending({ text, file, error }: Pending, words: Words, retry: () => void): HTMLElement {
  return make(
    'div',
    { class: 'message own pending' },
    make('span', { class: 'hidden' }, `${words.you}: `),
    make('p', {}, file === undefined ? text : `📎 ${file.name}`),
    error !== undefined && make('small', {}, error === 'tooLarge' ? words.tooLarge : words.notSent),
    error === 'notSent' && make('button', { type: 'button', class: 'again', click: retry }, words.tryAgain),
  )
}
