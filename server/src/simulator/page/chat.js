import { bubbles, dayOf, hourOf } from './bubbles.js'
import { icon, initialsOf, make } from './elements.js'

const $ = (id) => document.getElementById(id)

export const isWide = () => matchMedia('(min-width: 900px)').matches

/** Which pane is shown where there is room for one. */
export function look(view) {
  document.body.dataset.view = view
}

/** A chat as a line of the list; `mine` are those whose words are shown as one's own. */
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

/** Shows the chat, at its end unless somebody reads further up. */
export function showThread({ id, messages }, options) {
  const thread = $('thread')
  const picture = JSON.stringify([id, messages])
  if (picture === shown) return
  const isOther = !shown.startsWith(`["${id}",`)
  const isAtEnd = thread.scrollHeight - thread.scrollTop - thread.clientHeight < 80
  shown = picture
  thread.replaceChildren(...bubbles(messages, options))
  if (isAtEnd || isOther) thread.scrollTop = thread.scrollHeight
}

/** The place where one types: it grows with the text, and keeps a draft for each chat. */
export function createComposer(send) {
  const text = $('text')
  const drafts = new Map()
  let owner = ''
  const fit = () => {
    text.style.height = 'auto'
    text.style.height = `${Math.min(text.scrollHeight + 2, 160)}px`
  }
  const submit = async () => {
    const words = text.value
    if (words.trim() === '') return
    text.value = ''
    fit()
    if (!(await send(words))) text.value = words
    $('thread').scrollTop = $('thread').scrollHeight
    text.focus()
  }
  $('composer').querySelector('button').append(icon('send'))
  $('composer').addEventListener('submit', (event) => {
    event.preventDefault()
    submit()
  })
  text.addEventListener('input', fit)
  text.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing || matchMedia('(pointer: coarse)').matches) return
    event.preventDefault()
    submit()
  })
  return {
    turnTo: (next) => {
      if (next === owner) return
      drafts.set(owner, text.value)
      owner = next
      text.value = drafts.get(owner) ?? ''
      fit()
    },
  }
}

/** Makes a form do `act` with its fields; it is emptied when that went well. */
export function onSubmit(id, act, { keeps = false } = {}) {
  $(id).addEventListener('submit', async (event) => {
    event.preventDefault()
    const fields = Object.fromEntries(new FormData(event.target))
    if (fields.phone) fields.phone = fields.phone.replace(/\D/g, '')
    if ((await act(fields)) && !keeps) event.target.reset()
  })
}

/** The buttons that lead from pane to pane. */
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
  $('more').addEventListener('click', () => look('controls'))
}
