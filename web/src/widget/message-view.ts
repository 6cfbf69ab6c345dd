import type { Client, Message, Option, Pending } from './client.ts'
import { linked, linkTo, make } from './elements.ts'
import type { Words } from './texts.ts'

interface MessageActions {
  client: Client
  words: Words
  title: string
  choose(message: Message, option: Option): void
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
    choices !== undefined && drawChoices(message, actions),
    make('time', { datetime: message.at }, time.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })),
  )
}

function withClass<E extends HTMLElement>(element: E | null, name: string): E | null {
  element?.classList.add(name)
  return element
}

function drawChoices(message: Message, { choose }: MessageActions): HTMLElement {
  const { choices } = message
  const options = choices === undefined ? [] : 'list' in choices ? choices.list.rows : choices.buttons
  const buttons = options.map((option) => {
    const button = make(
      'button',
      { type: 'button', class: 'action' },
      option.title,
      option.description !== undefined && make('small', {}, option.description),
    )
    button.addEventListener('click', () => choose(message, option))
    return button
  })
  return make(
    'div',
    { class: 'choices' },
    ...buttons,
    choices?.footer !== undefined && make('small', {}, choices.footer),
  )
}

const shownTypes = ['image/jpeg', 'image/png', 'image/webp']

function drawFile(file: NonNullable<Message['file']>, { client, words }: MessageActions): HTMLElement {
  const { id, mimeType } = file
  const name = file.name ?? words.chat
  if (id === null) return make('p', { class: 'file' }, `📎 ${name}`)
  const button = make('button', { type: 'button', class: 'action', 'aria-label': words.download(name) }, `📎 ${name}`)
  button.addEventListener('click', () => void save(client, id, name))
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
  const again = make('button', { type: 'button', class: 'again' }, words.tryAgain)
  again.addEventListener('click', retry)
  return make(
    'div',
    { class: 'message own pending' },
    make('span', { class: 'hidden' }, `${words.you}: `),
    make('p', {}, file === undefined ? text : `📎 ${file.name}`),
    error !== undefined && make('small', {}, error === 'tooLarge' ? words.tooLarge : words.notSent),
    error === 'notSent' && again,
  )
}
