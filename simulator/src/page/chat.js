import { bubbles, dayOf, hourOf } from './bubbles.js'
import { icon, initialsOf, make } from './elements.js'

const $ = (id) => document.getElementById(id)

export const isWide = () => matchMedia('(min-width: 900px)').matches

/** Switches between panes on screens that show one at a time. */
export function showPane(view) {
  document.body.dataset.view = view
}

/** Renders a chat as an entry of the list; `mine` are the senders shown as oneself. */
export function chatRow({ name, phone, online, unread, lastText, lastFrom, lastAt }, { href, isChosen, isMine, now }) {
  const avatar = make('span', {
    className: `avatar${online ? '' : ' away'}`,
    text: initialsOf(name),
    'aria-hidden': 'true',
  })
  const isToday = lastAt && dayOf(lastAt) === dayOf(now)
  const time =
    lastAt && make('time', { className: 'meta', datetime: lastAt, text: isToday ? hourOf(lastAt) : dayOf(lastAt) })
  const preview = `${lastFrom && isMine({ from: lastFrom }) ? 'You: ' : ''}${lastText}`
  const row = make(
    'a',
    { href, ...(isChosen ? { 'aria-current': 'true' } : {}) },
    avatar,
    make('span', { className: 'top' }, make('strong', { text: name, dir: 'auto' }), time),
    make(
      'span',
      { className: 'bottom' },
      make('span', { className: 'preview', text: preview || `+${phone}`, dir: 'auto' }),
      unread > 0 && make('b', { className: 'count', text: String(unread), 'aria-label': `${unread} unread` }),
    ),
  )
  return make('li', {}, row)
}

let shown = ''
let items = new Map()

/** Shows the chat, scrolled to its end unless the user scrolled up. Keeps unchanged elements, so media plays on. */
export function showThread({ id, messages }, options) {
  const thread = $('thread')
  const picture = JSON.stringify([id, messages])
  if (picture === shown) return
  const isOther = !shown.startsWith(`["${id}",`)
  const isAtEnd = thread.scrollHeight - thread.scrollTop - thread.clientHeight < 80
  shown = picture
  reconcile(thread, bubbles(messages, options), isOther)
  if (isAtEnd || isOther) thread.scrollTop = thread.scrollHeight
}

function reconcile(thread, wanted, isOther) {
  const before = isOther ? new Map() : items
  items = new Map()
  let at = isOther ? null : thread.firstChild
  if (isOther) thread.replaceChildren()
  for (const { key, state, build } of wanted) {
    const known = before.get(key)
    const node = known?.state === state ? known.node : build()
    items.set(key, { state, node })
    if (node === at) at = at.nextSibling
    else if (known?.node === at && at !== null) {
      at = at.nextSibling
      known.node.replaceWith(node)
    } else thread.insertBefore(node, at)
  }
  while (at !== null) {
    const next = at.nextSibling
    at.remove()
    at = next
  }
}

/**
 * Creates the composer: it grows with the text and keeps a draft per chat. `send` is called with the text and the
 * message that it refers to: `{ mode: 'quote' | 'edit', message }`.
 */
export function createComposer(send) {
  const text = $('text')
  const drafts = new Map()
  let owner = ''
  let about = null
  const fit = () => {
    text.style.height = 'auto'
    text.style.height = `${Math.min(text.scrollHeight + 2, 160)}px`
  }
  const turnAbout = (next) => {
    if (about?.mode === 'edit') text.value = ''
    about = next
    $('about').hidden = about === null
    if (about === null) return fit()
    const { mode, message } = about
    $('about').querySelector('strong').textContent = mode === 'edit' ? 'Edit' : 'Reply to'
    $('about').querySelector('.about-text').textContent = message.caption || message.text
    if (mode === 'edit') text.value = message.file ? (message.caption ?? '') : message.text
    fit()
    text.focus()
  }
  const submit = async () => {
    const words = text.value
    const meant = about
    const mayBeEmpty = meant?.mode === 'edit' && meant.message.file
    if (words.trim() === '' && !mayBeEmpty) return
    text.value = ''
    fit()
    if (await send(words, meant)) {
      if (about === meant && meant !== null) turnAbout(null)
    } else text.value = words
    $('thread').scrollTop = $('thread').scrollHeight
    text.focus()
  }
  $('composer').querySelector('.send').append(icon('send'))
  $('about').querySelector('button').append(icon('cancel'))
  $('about')
    .querySelector('button')
    .addEventListener('click', () => turnAbout(null))
  $('composer').addEventListener('submit', (event) => {
    event.preventDefault()
    submit()
  })
  text.addEventListener('input', fit)
  text.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && about !== null) turnAbout(null)
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing || matchMedia('(pointer: coarse)').matches) return
    event.preventDefault()
    submit()
  })
  return {
    /** Returns the quoted message for the next send, and clears it. */
    takeQuoted: () => {
      const quoted = about?.mode === 'quote' ? about.message.id : undefined
      if (quoted) turnAbout(null)
      return quoted
    },
    turnAbout,
    turnTo: (next) => {
      if (next === owner) return
      turnAbout(null)
      drafts.set(owner, text.value)
      owner = next
      text.value = drafts.get(owner) ?? ''
      fit()
    },
  }
}

/** Calls `act` with the form's fields on submit; resets the form on success unless `keeps`. */
export function onSubmit(id, act, { keeps = false } = {}) {
  $(id).addEventListener('submit', async (event) => {
    event.preventDefault()
    const fields = Object.fromEntries(new FormData(event.target))
    if (fields.phone) fields.phone = fields.phone.replace(/\D/g, '')
    if ((await act(fields)) && !keeps) event.target.reset()
  })
}

/** Wires the buttons that switch panes. */
export function wirePanes() {
  for (const [id, name] of [
    ['back', 'back'],
    ['close', 'back'],
    ['more', 'more'],
  ])
    $(id).append(icon(name))
  $('back').addEventListener('click', () => {
    location.hash = ''
  })
  $('more').addEventListener('click', () => showPane('controls'))
}
