import { icon, make } from './elements.js'

const hourFormat = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const dayFormat = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short' })
const groupMs = 3 * 60_000

export const hourOf = (at) => hourFormat.format(new Date(at))
export const dayOf = (at) => dayFormat.format(new Date(at))

/** The chat as list items, with a line where the day changes. `isMine` says what was written on this phone. */
export function bubbles(messages, { isMine, onButton }) {
  const items = []
  let previous
  for (const message of messages) {
    if (previous === undefined || dayOf(previous.at) !== dayOf(message.at)) {
      items.push(make('li', { className: 'day', text: dayOf(message.at) }))
    }
    items.push(
      message.status === 'failed'
        ? failure(message, isMine(message))
        : bubble(message, isMine(message), { isFollowing: follows(previous, message), onButton }),
    )
    previous = message
  }
  return items
}

function follows(previous, message) {
  return previous?.from === message.from && Date.parse(message.at) - Date.parse(previous.at) < groupMs
}

function failure({ errorCode, text }, isMine) {
  const what = isMine ? `“${text}”` : 'A message of the business'
  return make('li', { className: 'notice', text: `${what} did not get through (${errorCode})` })
}

function bubble(message, isMine, { isFollowing, onButton }) {
  const isWaiting = !isMine && message.from !== 'customer' && message.status === 'sent'
  const classes = ['bubble', isMine ? 'mine' : 'theirs', isFollowing && 'following', isWaiting && 'waiting']
  const item = make(
    'li',
    { className: classes.filter(Boolean).join(' '), 'data-status': message.status },
    message.header && make('strong', { className: 'header', text: headerOf(message.header) }),
    make('span', { className: 'words', dir: 'auto', text: message.text }),
    message.footer && make('span', { className: 'footer', text: message.footer }),
    caption(message, isMine),
  )
  if (message.buttons.length > 0) item.append(choices(message, onButton))
  return item
}

function headerOf(header) {
  return { IMAGE: '📷 Picture', VIDEO: '🎬 Video', DOCUMENT: '📄 Document', LOCATION: '📍 Place' }[header] ?? header
}

function caption(message, isMine) {
  const line = make('span', { className: 'caption' })
  if (message.from === 'device' && !isMine) line.append('typed on their phone · ')
  if (message.from === 'business' && isMine) line.append('by a linked device · ')
  line.append(make('time', { datetime: message.at, text: hourOf(message.at) }))
  if (isShownTo(message, isMine)) line.append(icon(message.status, meaningOf(message)))
  return line
}

// A customer's phone has always shown how far the business's messages are; the owner's shows its own only.
const isShownTo = ({ from }, isMine) => isMine || from !== 'customer'

function meaningOf({ status, from }) {
  if (from === 'customer') {
    return {
      pending: 'Waiting for a network',
      sent: 'Sent',
      delivered: 'The business has it',
      read: 'The business read it',
    }[status]
  }
  return { pending: 'On its way', sent: 'Sent', delivered: 'Delivered', read: 'Read' }[status]
}

function choices(message, onButton) {
  const buttons = message.buttons.map((text) => {
    const button = make('button', { type: 'button', text })
    button.addEventListener('click', () => onButton(message, text))
    return button
  })
  return make('span', { className: 'choices' }, ...buttons)
}
