import { bubbles, dayOf, hourOf } from './bubbles.js'
import { icon, initialsOf, make } from './elements.js'

const $ = (id) => document.getElementById(id)
const kinds = [
  ['Photo', { kind: 'image', text: 'Like this one?' }],
  ['Voice', { kind: 'voice' }],
  ['Video', { kind: 'video' }],
  ['Document', { kind: 'document', text: 'receipt.pdf' }],
  ['Place', { kind: 'location' }],
  ['Contact', { kind: 'contacts' }],
  ['Sticker', { kind: 'sticker' }],
  ['Order', { kind: 'order', text: 'Two lamps and a rug' }],
  ['Thumbs up to the last', { kind: 'reaction', text: '👍', about: 'last' }],
  ['From an ad', { kind: 'text', text: 'Hi! I saw your ad', ad: 'image' }],
  ['Poll', { kind: 'unsupported' }],
]
const hourMs = 3_600_000
const moves = [
  ['+1 h', { advanceMs: hourMs }],
  ['+23 h', { advanceMs: 23 * hourMs }],
  ['+25 h', { advanceMs: 25 * hourMs }],
  ['Real time', { follow: true }],
]

let chosen = location.hash.slice(1)
let chat = null
let shiftMs = 0
let shown = ''
const drafts = new Map()

async function ask(method, path, body) {
  const answer = await fetch(path, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  const value = await answer.json()
  if (!answer.ok) throw Object.assign(new Error(value.statusMessage), { status: answer.status })
  return value
}

const ofChosen = (path = '') => `/simulator/customers/${chosen}${path}`

/** Does what a person asked for; what goes wrong is shown, and nothing they typed is lost. */
async function attempt(work) {
  try {
    await work()
    $('problem').hidden = true
    await refresh()
    return true
  } catch (error) {
    $('problem').textContent = error.status ? error.message : 'The simulator does not answer'
    $('problem').hidden = false
    return false
  }
}

let isAsking = false
let askAgain = false
async function refresh() {
  if (isAsking) {
    askAgain = true
    return
  }
  isAsking = true
  try {
    const [{ customers }, clock] = await Promise.all([
      ask('GET', '/simulator/customers'),
      ask('GET', '/simulator/clock'),
    ])
    shiftMs = clock.shiftMs
    if (!customers.some(({ id }) => id === chosen)) chosen = isWide() ? (customers[0]?.id ?? '') : ''
    chat = chosen === '' ? null : await ask('GET', ofChosen())
    showPeople(customers)
    showChat()
    showClock()
    $('offline').hidden = true
  } catch {
    $('offline').hidden = false
  } finally {
    isAsking = false
    if (askAgain) {
      askAgain = false
      refresh()
    }
  }
}

const isWide = () => matchMedia('(min-width: 900px)').matches

function showPeople(customers) {
  const rows = customers.map((customer) => {
    const { id, name, lastText, lastFrom, lastAt, unread, online } = customer
    const avatar = make('span', {
      className: `avatar${online ? '' : ' away'}`,
      text: initialsOf(name),
      'aria-hidden': 'true',
    })
    const isToday = lastAt && dayOf(lastAt) === dayOf(Date.now() + shiftMs)
    const time =
      lastAt && make('time', { className: 'meta', datetime: lastAt, text: isToday ? hourOf(lastAt) : dayOf(lastAt) })
    const preview = `${lastFrom === 'customer' ? 'You: ' : ''}${lastText}`
    const row = make(
      'a',
      { href: `#${id}`, ...(id === chosen ? { 'aria-current': 'true' } : {}) },
      avatar,
      make('span', { className: 'top' }, make('strong', { text: name, dir: 'auto' }), time),
      make(
        'span',
        { className: 'bottom' },
        make('span', { className: 'preview', text: preview || `+${customer.phone}`, dir: 'auto' }),
        unread > 0 && make('b', { className: 'count', text: String(unread), 'aria-label': `${unread} unread` }),
      ),
    )
    return make('li', {}, row)
  })
  $('people').replaceChildren(...rows)
}

function showChat() {
  $('empty').hidden = chat !== null
  $('phone').hidden = chat === null
  $('controls').hidden = chat === null
  if (chat === null) return
  $('business').textContent = chat.business
  $('business-avatar').textContent = initialsOf(chat.business)
  $('owner').textContent = `Phone of ${chat.name}`
  $('customer').textContent = chat.name
  for (const name of ['online', 'readsAtOnce', 'hidesNumber']) $(name).checked = chat[name]
  const phone = $('number').elements.phone
  if (document.activeElement !== phone) phone.value = `+${chat.phone}`
  $('window').textContent = chat.windowIsOpen
    ? 'The business may write: the customer wrote within 24 hours.'
    : 'The business may only send templates: the customer has not written for 24 hours.'
  $('no-network').hidden = chat.online
  $('unread').hidden = chat.unread === 0 || chat.readsAtOnce || !chat.online
  $('unread').firstElementChild.textContent = chat.unread === 1 ? '1 unread message' : `${chat.unread} unread messages`
  showThread()
}

function showThread() {
  const thread = $('thread')
  const picture = JSON.stringify([chat.id, chat.messages])
  if (picture === shown) return
  const isOther = !shown.startsWith(`["${chat.id}",`)
  const isAtEnd = thread.scrollHeight - thread.scrollTop - thread.clientHeight < 80
  shown = picture
  thread.replaceChildren(...bubbles(chat.messages, answerButton))
  if (isAtEnd || isOther) thread.scrollTop = thread.scrollHeight
}

const answerButton = (message, text) =>
  attempt(() => ask('POST', ofChosen('/messages'), { kind: 'button', text, about: message.id }))

function showClock() {
  const now = Date.now() + shiftMs
  $('clock').textContent = `${dayOf(now)}, ${hourOf(now)}`
  const hours = Math.round(shiftMs / 360_000) / 10
  $('shift').textContent = shiftMs === 0 ? 'real time' : `${hours > 0 ? '+' : ''}${hours} h`
}

function look(view) {
  document.body.dataset.view = view
}

function choose() {
  const next = location.hash.slice(1)
  drafts.set(chosen, $('text').value)
  if (next !== chosen) $('problem').hidden = true
  chosen = next
  $('text').value = drafts.get(chosen) ?? ''
  fit()
  look(chosen === '' ? 'list' : 'chat')
  refresh()
}

function fit() {
  const { style } = $('text')
  style.height = 'auto'
  style.height = `${Math.min($('text').scrollHeight + 2, 160)}px`
}

async function send() {
  const text = $('text').value
  if (text.trim() === '') return
  $('text').value = ''
  fit()
  if (!(await attempt(() => ask('POST', ofChosen('/messages'), { text })))) $('text').value = text
  $('thread').scrollTop = $('thread').scrollHeight
  $('text').focus()
}

function chips(place, entries, act) {
  for (const [label, value] of entries) {
    const button = make('button', { type: 'button', text: label })
    button.addEventListener('click', () => attempt(() => act(value)))
    $(place).append(button)
  }
}

function onSubmit(id, act) {
  $(id).addEventListener('submit', async (event) => {
    event.preventDefault()
    const fields = Object.fromEntries(new FormData(event.target))
    if (fields.phone) fields.phone = fields.phone.replace(/\D/g, '')
    if (await attempt(() => act(fields))) if (id !== 'number') event.target.reset()
  })
}

for (const [id, name] of [
  ['back', 'back'],
  ['close', 'back'],
  ['more', 'more'],
])
  $(id).append(icon(name))
$('composer').querySelector('button').append(icon('send'))
chips('kinds', kinds, ({ about, ...value }) => {
  const last = chat.messages.findLast(({ from }) => from !== 'customer')
  return ask('POST', ofChosen('/messages'), { ...value, ...(about && last ? { about: last.id } : {}) })
})
chips('kinds', [['Call', null]], () => ask('POST', ofChosen('/call')))
chips('moves', moves, (value) => ask('POST', '/simulator/clock', value))
for (const name of ['online', 'readsAtOnce', 'hidesNumber']) {
  $(name).addEventListener('change', ({ target }) =>
    attempt(() => ask('PATCH', ofChosen(), { [name]: target.checked })),
  )
}
onSubmit('number', (fields) => ask('PATCH', ofChosen(), fields))
onSubmit('echo', (fields) => ask('POST', ofChosen('/echo'), fields))
onSubmit('add', async (fields) => {
  const { id } = await ask('POST', '/simulator/customers', fields)
  location.hash = id
})
$('unread')
  .querySelector('button')
  .addEventListener('click', () => attempt(() => ask('POST', ofChosen('/read'))))
$('composer').addEventListener('submit', (event) => {
  event.preventDefault()
  send()
})
$('text').addEventListener('input', fit)
$('text').addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing || matchMedia('(pointer: coarse)').matches) return
  event.preventDefault()
  send()
})
$('back').addEventListener('click', () => {
  location.hash = ''
})
$('more').addEventListener('click', () => look('controls'))
$('close').addEventListener('click', () => look('chat'))
addEventListener('hashchange', choose)
setInterval(showClock, 10_000)
const live = new EventSource('/simulator/live')
live.addEventListener('message', refresh)
live.addEventListener('error', () => {
  $('offline').hidden = false
})
look(chosen === '' ? 'list' : 'chat')
