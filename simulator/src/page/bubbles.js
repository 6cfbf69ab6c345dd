import { icon, make } from './elements.js'
import { partsOf, quoteOf, reactionsOf } from './parts.js'

const hourFormat = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const dayFormat = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short' })
const groupMs = 3 * 60_000

export const hourOf = (at) => hourFormat.format(new Date(at))
export const dayOf = (at) => dayFormat.format(new Date(at))

/** Returns the chat as list items, with day separators. `isMine`: sent from this phone. Same `state`, same look. */
export function bubbles(messages, { isMine, onButton, onChoice, onPrompt, onAct }) {
  const items = []
  let previous
  for (const message of messages) {
    const day = dayOf(message.at)
    if (previous === undefined || dayOf(previous.at) !== day) {
      items.push({ key: `day ${day}`, state: day, build: () => make('li', { className: 'day', text: day }) })
    }
    const isFollowing = follows(previous, message)
    const quoted = message.quotes && messages.find(({ id }) => id === message.quotes)
    items.push({
      key: message.id,
      state: JSON.stringify([message, isFollowing, quoted]),
      build: () =>
        message.status === 'failed'
          ? failure(message, isMine(message))
          : bubble(message, isMine(message), { isFollowing, quoted, isMine, onButton, onChoice, onPrompt, onAct }),
    })
    previous = message
  }
  return items
}

function follows(previous, message) {
  return previous?.from === message.from && Date.parse(message.at) - Date.parse(previous.at) < groupMs
}

function failure({ errorCode, text }, isMine) {
  const what = isMine ? `“${text}”` : 'A message from the business'
  return make('li', { className: 'notice', text: `${what} was not delivered (${errorCode})` })
}

function bubble(message, isOwn, { isFollowing, quoted, isMine, onButton, onChoice, onPrompt, onAct }) {
  const isWaiting = !isOwn && message.from !== 'customer' && message.status === 'sent'
  const classes = ['bubble', isOwn ? 'mine' : 'theirs', isFollowing && 'following', isWaiting && 'waiting']
  const item = make('li', {
    className: classes.filter(Boolean).join(' '),
    'data-status': message.status,
    'data-id': message.id,
  })
  if (message.isWithdrawn) item.append(make('em', { className: 'words', text: 'Deleted' }))
  else item.append(...contentOf(message, quoted, isMine))
  item.append(caption(message, isOwn))
  if (message.buttons.length > 0) item.append(choices(message, onButton))
  if (message.offer) item.append(renderOptions(message, onChoice))
  if (message.prompt) item.append(promptOf(message, onPrompt))
  const reactions = reactionsOf(message)
  if (reactions) item.append(reactions)
  if (onAct && !message.isWithdrawn) item.append(actsOf(message, onAct))
  return item
}

function contentOf(message, quoted, isMine) {
  const parts = partsOf(message)
  const words = parts.length > 0 && message.kind !== 'template' ? message.caption : message.text
  return [
    quoted && quoteOf(quoted, isMine),
    message.header &&
      !message.file &&
      !message.place &&
      make('strong', { className: 'header', text: headerOf(message.header) }),
    ...parts,
    words && make('span', { className: 'words', dir: 'auto', text: words }),
    message.footer && make('span', { className: 'footer', text: message.footer }),
  ].filter(Boolean)
}

function actsOf(message, onAct) {
  const button = make('button', { type: 'button', className: 'acts icon', 'aria-label': 'More actions' }, icon('more'))
  button.addEventListener('click', () => onAct(message, button))
  return button
}

function headerOf(header) {
  return { IMAGE: '📷 Picture', VIDEO: '🎬 Video', DOCUMENT: '📄 Document', LOCATION: '📍 Place' }[header] ?? header
}

function caption(message, isMine) {
  const line = make('span', { className: 'caption' })
  if (message.from === 'device' && !isMine) line.append('sent from their phone · ')
  if (message.from === 'business' && isMine) line.append('by a linked device · ')
  if (message.price && !isMine) line.append(`${priceWords(message.price)} · `)
  if (message.isEdited) line.append('edited · ')
  line.append(make('time', { datetime: message.at, text: hourOf(message.at) }))
  if (isShownTo(message, isMine)) line.append(icon(message.status, meaningOf(message)))
  return line
}

const priceWords = ({ type, category }) =>
  ({ free_customer_service: 'free of the month', free_entry_point: 'free after an ad' })[type] ??
  `charged as ${category}`

// A customer's phone shows statuses of the business's messages; the owner's shows only those of its own.
const isShownTo = ({ from }, isMine) => isMine || from !== 'customer'

function meaningOf({ status, from }) {
  if (from === 'customer') {
    return {
      pending: 'Waiting to go online',
      sent: 'Sent',
      delivered: 'Delivered to the business',
      read: 'Read by the business',
    }[status]
  }
  return { pending: 'Sending', sent: 'Sent', delivered: 'Delivered', read: 'Read' }[status]
}

function choices(message, onButton) {
  const buttons = message.buttons.map((text) => {
    const button = make('button', { type: 'button', text })
    button.addEventListener('click', () => onButton(message, text))
    return button
  })
  return make('span', { className: 'choices' }, ...buttons)
}

/** Renders buttons or a list; on a phone that cannot choose they are disabled. */
function renderOptions(message, onChoice) {
  const { button: label, options } = message.offer
  const all = options.map((option) => {
    const button = make('button', { type: 'button', 'data-choice': option.id })
    button.append(make('span', { text: option.title, dir: 'auto' }))
    if (option.description) button.append(make('small', { text: option.description, dir: 'auto' }))
    button.disabled = !onChoice
    if (onChoice) button.addEventListener('click', () => onChoice(message, option))
    return button
  })
  if (label === null) return make('span', { className: 'choices' }, ...all)
  return make('details', { className: 'choices' }, make('summary', { text: label, dir: 'auto' }), ...all)
}

/** Renders the one button of a message: a link opens in another tab, a code is copied. Without `onPrompt` others are disabled. */
function promptOf(message, onPrompt) {
  const { type, title, url, code } = message.prompt
  if (type === 'link') {
    const link = make('a', { href: url, target: '_blank', rel: 'noreferrer', text: title, dir: 'auto' })
    return make('span', { className: 'choices' }, link)
  }
  const button = make('button', { type: 'button', 'data-prompt': type, text: title, dir: 'auto' })
  if (type === 'code') {
    button.addEventListener('click', async () => {
      // Browsers refuse it on pages without TLS that are not on this machine.
      const isCopied = await navigator.clipboard?.writeText(code).then(
        () => true,
        () => false,
      )
      button.textContent = isCopied ? 'Copied' : code
    })
    return make('span', { className: 'choices' }, button)
  }
  button.disabled = !onPrompt
  if (onPrompt) button.addEventListener('click', () => onPrompt(message))
  return make('span', { className: 'choices' }, button)
}
