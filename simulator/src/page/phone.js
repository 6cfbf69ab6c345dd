import { createActionMenu } from './actions.js'
import { createRecorder, wireAttach, wireDialog } from './attach.js'
import { dayOf, hourOf } from './bubbles.js'
import { chatRow, createComposer, isWide, onSubmit, showPane, showThread, wirePanes } from './chat.js'
import { callSimulator, followChanges, runAction, showProblem, uploadFile } from './dialogs.js'
import { icon, initialsOf, make } from './elements.js'

const switches = ['online', 'readsAtOnce', 'hidesNumber', 'stopsMarketing', 'isSaturated']

const $ = (id) => document.getElementById(id)
const kinds = [
  ['Photo', { kind: 'image', text: 'Like this one?' }],
  ['Chart', { kind: 'image', made: 'chart' }],
  ['Page', { kind: 'image', made: 'page' }],
  ['Voice', { kind: 'voice' }],
  ['Video', { kind: 'video' }],
  ['Document', { kind: 'document', text: 'receipt.pdf' }],
  ['Place', { kind: 'location' }],
  ['Contact', { kind: 'contacts' }],
  ['Sticker', { kind: 'sticker' }],
  ['Order', { kind: 'order', text: 'Two lamps and a rug' }],
  ['Thumbs up to the last', { kind: 'reaction', text: '👍', about: 'last' }],
  ['Stop word', { kind: 'text', text: 'STOP' }],
  ['Start word', { kind: 'text', text: 'START' }],
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
/** Business number whose customers are listed. */
let businessNumberId = null
let paymentFails = false
let chat = null
let allCustomers = []
let shiftMs = 0

const ofChosen = (path = '') => `/simulator/customers/${chosen}${path}`
const isMine = ({ from }) => from === 'customer'
const refresh = followChanges(show)
const act = (work) => runAction(work, refresh)

async function show() {
  const [{ customers }, clock, { numbers }] = await Promise.all([
    callSimulator('GET', '/simulator/customers'),
    callSimulator('GET', '/simulator/clock'),
    callSimulator('GET', '/simulator/numbers'),
  ])
  shiftMs = clock.shiftMs
  allCustomers = customers
  if (businessNumberId === null) businessNumberId = numberOf(chosen) ?? numbers[0]?.numberId
  const ours = customers.filter(({ numberId }) => numberId === businessNumberId)
  if (!ours.some(({ id }) => id === chosen)) chosen = isWide() ? (ours[0]?.id ?? '') : ''
  chat = chosen === '' ? null : await callSimulator('GET', ofChosen())
  paymentFails = numbers.find(({ numberId }) => numberId === businessNumberId)?.paymentFails ?? false
  showNumbers(numbers)
  showPeople(ours)
  showChat()
  showClock()
}

const numberOf = (customerId) => allCustomers.find(({ id }) => id === customerId)?.numberId

function showNumbers(numbers) {
  $('choose-line').hidden = numbers.length < 2
  $('move-line').hidden = numbers.length < 2
  for (const id of ['line', 'writes-to']) {
    const options = numbers.map(({ numberId, name }) => make('option', { value: numberId, text: name }))
    const isSame = [...$(id).options].map(({ text }) => text).join() === options.map(({ text }) => text).join()
    if (!isSame) $(id).replaceChildren(...options)
    $(id).value = businessNumberId
  }
}

function showPeople(customers) {
  const now = Date.now() + shiftMs
  const rows = customers.map((customer) =>
    chatRow(customer, { href: `#${customer.id}`, isChosen: customer.id === chosen, isMine, now }),
  )
  $('people').replaceChildren(...rows)
}

function showChat() {
  $('empty').hidden = chat !== null
  $('phone').hidden = chat === null
  $('controls').hidden = chat === null
  composer.turnTo(chosen)
  if (chat === null) return
  $('business').textContent = chat.business
  $('business-avatar').textContent = initialsOf(chat.business)
  $('owner').textContent = `Phone of ${chat.name}`
  $('customer').textContent = chat.name
  for (const name of switches) $(name).checked = chat[name]
  const phone = $('number').elements.phone
  if (document.activeElement !== phone) phone.value = `+${chat.phone}`
  $('window').textContent = windowWords(chat)
  $('at-business').hidden = chat.network !== 'official'
  $('answeredBy').value = chat.answeredBy
  $('other-app').hidden = chat.answeredBy === 'business'
  $('paymentFails').checked = paymentFails
  $('no-network').hidden = chat.online
  $('typing').hidden = !chat.businessIsTyping
  $('forgotten').hidden = !chat.isForgotten
  $('unread').hidden = chat.unread === 0 || chat.readsAtOnce || !chat.online
  $('unread').firstElementChild.textContent = chat.unread === 1 ? '1 unread message' : `${chat.unread} unread messages`
  showThread(chat, { isMine, onButton: answerButton, onChoice: pick, onPrompt: answerPrompt, onAct })
}

const answerButton = (message, text) =>
  act(() => callSimulator('POST', ofChosen('/messages'), { kind: 'button', text, about: message.id }))

const pick = (message, { id: choiceId }) =>
  act(() => callSimulator('POST', ofChosen('/messages'), { choiceId, about: message.id }))

/** Does what the button of a message asks for. */
function answerPrompt({ id, prompt: { type } }) {
  const kinds = {
    location_request: 'location',
    contact_request: 'contact_request',
    address_request: 'address_reply',
    flow: 'flow_reply',
  }
  const text = type === 'contact_request' ? chat.name : ''
  const asked = { flow: 'What to fill in', address_request: 'Street and house number' }[type]
  const answer = asked === undefined ? text : window.prompt(asked)
  if (answer !== null)
    act(() => callSimulator('POST', ofChosen('/messages'), { kind: kinds[type], text: answer, about: id }))
}

function showClock() {
  const now = Date.now() + shiftMs
  $('clock').textContent = `${dayOf(now)}, ${hourOf(now)}`
  const hours = Math.round(shiftMs / 360_000) / 10
  $('shift').textContent = shiftMs === 0 ? 'real time' : `${hours > 0 ? '+' : ''}${hours} h`
}

function windowWords({ network, windowIsOpen }) {
  if (windowIsOpen) return 'The business may write: the customer wrote within 24 hours.'
  const words = 'the customer has not written for 24 hours.'
  return network === 'linked' ? `Rule of Parley: ${words}` : `The business may only send templates: ${words}`
}

/** Opens the same person's phone in its chat with another business. */
async function writeTo(numberId) {
  const { name, phone, hidesNumber } = chat
  const known = allCustomers.find((one) => one.numberId === numberId && one.phone === phone)
  const { id } = known ?? (await callSimulator('POST', '/simulator/customers', { numberId, name, phone, hidesNumber }))
  businessNumberId = numberId
  location.hash = id
}

function choose() {
  const next = location.hash.slice(1)
  if (next !== chosen) showProblem(null)
  chosen = next
  businessNumberId = numberOf(chosen) ?? businessNumberId
  showPane(chosen === '' ? 'list' : 'chat')
  refresh()
}

const sendMessage = (body) => callSimulator('POST', ofChosen('/messages'), body)

/** Returns a function that sends to the chat open now, as a reply to the message quoted in it. */
function createSender() {
  const path = ofChosen('/messages')
  const about = composer.takeQuoted()
  return (body) => callSimulator('POST', path, { ...body, ...(about ? { about } : {}) })
}

const composer = createComposer((text, meant) =>
  act(() => {
    if (meant === null) return sendMessage({ text })
    return sendMessage({ text, about: meant.message.id, ...(meant.mode === 'edit' ? { kind: 'edit' } : {}) })
  }),
)

const onAct = createActionMenu({
  isMine,
  act: (name, message, emoji) => {
    const about = message.id
    if (name === 'quote' || name === 'edit') composer.turnAbout({ mode: name, message })
    if (name === 'withdraw') act(() => sendMessage({ kind: 'revoke', about }))
    if (name === 'react') act(() => sendMessage({ kind: 'reaction', text: emoji, about }))
    if (name === 'lift') act(() => sendMessage({ kind: 'reaction_removed', about }))
  },
})

const record = createRecorder((note) =>
  act(async () => {
    const send = createSender()
    await send({ kind: 'voice', fileId: await uploadFile(note, { numberId: businessNumberId, isVoice: true }) })
  }),
)

function chips(place, entries, work) {
  for (const [label, value] of entries) {
    const button = make('button', { type: 'button', text: label })
    button.addEventListener('click', () => act(() => work(value)))
    $(place).append(button)
  }
}

function wireAttachments() {
  const { entry } = wireAttach({ act, createSender, numberId: () => businessNumberId })
  const openPlace = wireDialog('place', ({ latitude, longitude, ...words }) => {
    const place = { latitude: Number(latitude), longitude: Number(longitude), ...words }
    return act(() => createSender()({ kind: 'location', place }))
  })
  const openCard = wireDialog('card', ({ phone, email, ...words }) => {
    const card = { ...words, phones: [phone.replace(/\D/g, '')], ...(email ? { emails: [email] } : {}) }
    return act(() => createSender()({ kind: 'contacts', card }))
  })
  entry('Place', 'place', openPlace)
  entry('Contact', 'person', openCard)
  $('record').append(icon('microphone'))
  $('record').addEventListener('click', record)
}

wirePanes()
wireAttachments()
chips('kinds', kinds, async ({ about, made, ...value }) => {
  const last = chat.messages.findLast(({ from }) => from !== 'customer')
  const file =
    made && (await callSimulator('POST', '/simulator/files/made', { numberId: businessNumberId, name: made }))
  return sendMessage({ ...value, ...(file && { fileId: file.fileId }), ...(about && last ? { about: last.id } : {}) })
})
chips('kinds', [['Call', null]], () => callSimulator('POST', ofChosen('/call')))
chips('moves', moves, (value) => callSimulator('POST', '/simulator/clock', value))
for (const name of switches) {
  $(name).addEventListener('change', ({ target }) =>
    act(() => callSimulator('PATCH', ofChosen(), { [name]: target.checked })),
  )
}
onSubmit('number', (fields) => act(() => callSimulator('PATCH', ofChosen(), fields)), { keeps: true })
onSubmit('other-app', (fields) => act(() => callSimulator('POST', ofChosen('/other-app'), fields)))
$('answeredBy').addEventListener('change', ({ target }) =>
  act(() => callSimulator('PATCH', ofChosen(), { answeredBy: target.value })),
)
$('paymentFails').addEventListener('change', ({ target }) =>
  act(() => callSimulator('PATCH', `/simulator/numbers/${businessNumberId}`, { paymentFails: target.checked })),
)
onSubmit('echo', (fields) => act(() => callSimulator('POST', ofChosen('/echo'), fields)))
onSubmit('add', (fields) =>
  act(async () => {
    const { id } = await callSimulator('POST', '/simulator/customers', { ...fields, numberId: businessNumberId })
    location.hash = id
  }),
)
$('line').addEventListener('change', ({ target }) => {
  businessNumberId = target.value
  const same = allCustomers.find((one) => one.numberId === businessNumberId && one.phone === chat?.phone)
  if (isWide() && same) location.hash = same.id
  else refresh()
})
$('writes-to').addEventListener('change', ({ target }) => act(() => writeTo(target.value)))
$('unread')
  .querySelector('button')
  .addEventListener('click', () => act(() => callSimulator('POST', ofChosen('/read'))))
$('close').addEventListener('click', () => showPane('chat'))
addEventListener('hashchange', choose)
setInterval(showClock, 10_000)
showPane(chosen === '' ? 'list' : 'chat')
