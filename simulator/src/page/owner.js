import { wireAttach } from './attach.js'
import { dayOf, hourOf } from './bubbles.js'
import { chatRow, createComposer, isWide, onSubmit, showPane, showThread, wirePanes } from './chat.js'
import { callSimulator, followChanges, runAction, showProblem } from './dialogs.js'
import { icon, initialsOf, make } from './elements.js'

const $ = (id) => document.getElementById(id)
const drops = [
  ['Connection lost · 428', 428],
  ['Restart · 515', 515],
  ['Replaced · 440', 440],
  ['Bad session · 500', 500],
  ['Temporarily blocked · 402', 402],
  ['Banned · 403', 403],
  ['Outdated · 405', 405],
]

let chosen = location.hash.slice(1)
let phone = null
let chat = null
let shiftMs = 0

const isMine = ({ from }) => from !== 'customer'
const ofPhone = (path) => `/simulator/phones/${encodeURIComponent(phone.numberId)}${path}`
const refresh = followChanges(show)
const act = (work) => runAction(work, refresh)

async function show() {
  const [{ phones }, clock] = await Promise.all([
    callSimulator('GET', '/simulator/phones'),
    callSimulator('GET', '/simulator/clock'),
  ])
  shiftMs = clock.shiftMs
  phone = phones.find(({ numberId }) => numberId === phone?.numberId) ?? ofChat(phones) ?? phones[0]
  if (!phone.chats.some(({ id }) => id === chosen)) chosen = ''
  chat = chosen === '' ? null : await callSimulator('GET', `/simulator/customers/${chosen}`)
  showPhones(phones)
  showChats()
  showChat()
  showWaiting()
  showDevices()
}

const ofChat = (phones) => phones.find(({ chats }) => chats.some(({ id }) => id === chosen))

function showPhones(phones) {
  $('choose-phone').hidden = phones.length < 2
  if ($('phones').options.length !== phones.length) {
    $('phones').replaceChildren(...phones.map(({ numberId, name }) => make('option', { value: numberId, text: name })))
  }
  $('phones').value = phone.numberId
  $('name').textContent = phone.name
  $('digits').textContent = `+${phone.phone}`
}

function showChats() {
  const now = Date.now() + shiftMs
  const rows = phone.chats
    .filter(({ lastAt }) => lastAt)
    .map((one) => chatRow(one, { href: `#${one.id}`, isChosen: one.id === chosen, isMine, now }))
  $('people').replaceChildren(...rows)
}

function showChat() {
  $('empty').hidden = chat !== null
  for (const id of ['thread', 'composer']) $(id).hidden = chat === null
  document.querySelector('.chat-head').hidden = chat === null
  composer.turnTo(chosen)
  const unread = phone.chats.find(({ id }) => id === chosen)?.unread ?? 0
  $('unread').hidden = unread === 0
  if (chat === null) return
  $('customer').textContent = chat.name
  $('avatar').textContent = initialsOf(chat.name)
  $('customer-phone').textContent = chat.hidesNumber ? 'Number hidden' : `+${chat.phone}`
  $('unread').firstElementChild.textContent = unread === 1 ? '1 unread message' : `${unread} unread messages`
  showThread(chat, { isMine, onButton: () => {} })
}

/** Lists devices that wait to be linked, each while its code is valid. */
function showWaiting() {
  const rows = phone.waiting.map(({ qr, expiresAt, wantsCode }) => {
    const left = make('span', { className: 'meta', 'data-until': expiresAt })
    const words = wantsCode ? 'A device is waiting for its code' : 'Waiting for a QR scan'
    const row = make(
      'li',
      {},
      make('span', { className: 'picture', 'aria-hidden': 'true' }, icon('scan')),
      make('span', { className: 'words-of' }, make('strong', { text: words }), left),
    )
    if (wantsCode) return row
    const button = make('button', { type: 'button', className: 'main', text: 'Scan' })
    button.addEventListener('click', () => act(() => callSimulator('POST', ofPhone('/scan'), { qr })))
    row.append(button)
    return row
  })
  $('waiting').replaceChildren(...rows)
  $('nobody').hidden = rows.length > 0
  countDown()
}

function countDown() {
  for (const element of document.querySelectorAll('[data-until]')) {
    const leftMs = Date.parse(element.dataset.until) - Date.now() - shiftMs
    element.textContent = `valid for ${Math.max(0, Math.ceil(leftMs / 1000))} s`
  }
}

function showDevices() {
  const rows = phone.devices.map(({ id, linkedAt, isOnline, unacknowledged }) => {
    const since = `linked ${dayOf(linkedAt)}, ${hourOf(linkedAt)}`
    const behind = unacknowledged === 0 ? '' : ` · ${unacknowledged} unacknowledged`
    const button = make('button', { type: 'button', text: 'Unlink' })
    button.addEventListener('click', () => act(() => callSimulator('DELETE', ofPhone(`/devices/${id}`))))
    return make(
      'li',
      {},
      make('span', { className: `dot${isOnline ? ' on' : ''}`, 'aria-hidden': 'true' }),
      make(
        'span',
        { className: 'words-of' },
        make('strong', { text: isOnline ? 'Parley, connected' : 'Parley, disconnected' }),
        make('span', { className: 'meta', text: since + behind }),
      ),
      button,
    )
  })
  $('devices').replaceChildren(...rows)
  $('none').hidden = rows.length > 0
  const online = phone.devices.filter(({ isOnline }) => isOnline).length
  const waits = phone.waiting.length > 0 ? ' · a device is waiting to be linked' : ''
  $('devices-sum').textContent = (rows.length === 0 ? 'none' : `${rows.length} linked, ${online} connected`) + waits
}

function choose() {
  showProblem(null)
  chosen = location.hash.slice(1)
  showPane(chosen === '' ? 'list' : 'chat')
  refresh()
}

const createEchoSender = () => {
  const path = `/simulator/customers/${chosen}/echo`
  return (body) => callSimulator('POST', path, body)
}
const composer = createComposer((text) => act(() => createEchoSender()({ text })))

wirePanes()
wireAttach({ act, createSender: createEchoSender, numberId: () => phone.numberId })
document.querySelector('.devices-line .picture').append(icon('scan'))
for (const [label, code] of drops) {
  const button = make('button', { type: 'button', text: label })
  button.addEventListener('click', () => act(() => callSimulator('POST', ofPhone('/drop'), { code })))
  $('drops').append(button)
}
onSubmit('code', (fields) => act(() => callSimulator('POST', ofPhone('/code'), fields)))
onSubmit('new-chat', (fields) =>
  act(async () => {
    const { customerId } = await callSimulator('POST', ofPhone('/messages'), fields)
    location.hash = customerId
  }),
)
$('unread')
  .querySelector('button')
  .addEventListener('click', () => act(() => callSimulator('POST', ofPhone('/read'), { customerId: chosen })))
$('phones').addEventListener('change', ({ target }) => {
  phone = { numberId: target.value }
  location.hash = ''
  refresh()
})
$('open-devices').addEventListener('click', () => {
  if (isWide()) $('code').elements.code.focus()
  showPane('controls')
})
$('close').addEventListener('click', () => showPane(chosen === '' ? 'list' : 'chat'))
addEventListener('hashchange', choose)
setInterval(countDown, 1_000)
showPane(chosen === '' ? 'list' : 'chat')
