import { callSimulator, followChanges, runAction } from './dialogs.js'
import { make, makeField, makeSelect } from './elements.js'

const $ = (id) => document.getElementById(id)
const hourMs = 3_600_000

/** What the platform says about a number: label, field, and what the options set. */
const standing = [
  [
    'Quality',
    'qualityRating',
    [
      ['High', 'GREEN'],
      ['Medium', 'YELLOW'],
      ['Low', 'RED'],
      ['Unknown', 'UNKNOWN'],
    ],
  ],
  [
    'Messaging limit',
    'messagingLimit',
    [
      ['250 customers', 'TIER_250'],
      ['2,000 customers', 'TIER_2K'],
      ['10,000 customers', 'TIER_10K'],
      ['100,000 customers', 'TIER_100K'],
      ['Unlimited', 'TIER_UNLIMITED'],
    ],
  ],
  [
    'Throughput',
    'throughput',
    [
      ['80 messages a second', 'STANDARD'],
      ['1,000 messages a second', 'HIGH'],
    ],
  ],
  [
    'Display name',
    'nameStatus',
    [
      ['Approved', 'APPROVED'],
      ['In review', 'PENDING_REVIEW'],
      ['Declined', 'DECLINED'],
      ['Expired', 'EXPIRED'],
    ],
  ],
  [
    'Health check',
    'canSend',
    [
      ['Can send', 'AVAILABLE'],
      ['Limited', 'LIMITED'],
      ['Blocked', 'BLOCKED'],
    ],
  ],
]
const payments = [
  ['Works', false],
  ['Fails with 131042', true],
]
const restrictions = [
  ['May not start conversations', 'RESTRICTED_BIZ_INITIATED_MESSAGING'],
  ['May not reply', 'RESTRICTED_CUSTOMER_INITIATED_MESSAGING'],
  ['May not add numbers', 'RESTRICTED_ADD_PHONE_NUMBER_ACTION'],
]
const events = [
  ['Violation', 'ACCOUNT_VIOLATION'],
  ['Disabled', 'DISABLED_UPDATE'],
  ['Deleted', 'ACCOUNT_DELETED'],
  ['App removed', 'PARTNER_REMOVED'],
  ['Left the platform', 'ACCOUNT_OFFBOARDED'],
  ['Reconnected', 'ACCOUNT_RECONNECTED'],
]
const newChatLevels = [
  ['No warning', 'NONE'],
  ['First warning', 'FIRST_WARNING'],
  ['Second warning', 'SECOND_WARNING'],
  ['None left', 'CAPPED'],
]
/** How long a linked phone cannot write to new people, in hours. */
const locks = [
  ['Unlocked', 0],
  ['Locked for 1 hour', 1],
  ['Locked for 24 hours', 24],
]

const cards = new Map()
const refresh = followChanges(show)
const act = (work) => runAction(work, refresh)
const change = ({ numberId }, fields) =>
  act(() => callSimulator('PATCH', `/simulator/numbers/${encodeURIComponent(numberId)}`, fields))

async function show() {
  const [{ numbers }, { now }] = await Promise.all([
    callSimulator('GET', '/simulator/numbers'),
    callSimulator('GET', '/simulator/clock'),
  ])
  for (const number of numbers) {
    if (!cards.has(number.numberId)) cards.set(number.numberId, addCard(number))
    cards.get(number.numberId)(number, now)
  }
}

/** Adds the card of a number; returns what shows its changes, which keeps the focus. */
function addCard(number) {
  const parts = number.network === 'linked' ? [newChats(number)] : [standingOf(number), costs(number), account(number)]
  const title = make('h2')
  const elements = parts.map(({ element }) => element)
  $('numbers').append(make('li', { 'data-number': number.numberId }, title, ...elements))
  return (latest, now) => {
    title.textContent = `${latest.name} · +${latest.phone}`
    for (const part of parts) part.show(latest, now)
  }
}

/** Groups controls under a heading. */
const group = (title, help, ...controls) =>
  make('fieldset', { className: 'group' }, make('legend', { text: title }), ...controls, help)

function standingOf(number) {
  const selects = standing.map(([label, field, options]) => ({
    field,
    ...makeSelect(label, options, (value) => change(number, { [field]: value })),
  }))
  const problem = makeField('Why it cannot send everything', { maxlength: '1000', placeholder: 'No reason' }, (text) =>
    change(number, { problem: text }),
  )
  const fields = make('div', { className: 'fields' }, ...selects.map(({ element }) => element), problem.element)
  return {
    element: group('What it may do', null, fields),
    show: (latest) => {
      for (const { field, show: showValue } of selects) showValue(latest[field])
      problem.show(latest.problem)
    },
  }
}

function costs(number) {
  const free = makeField('Free service messages a month', { type: 'number', min: '0', max: '1000000' }, (text) =>
    change(number, { freeServiceMessages: Number(text) }),
  )
  const payment = makeSelect('Payment', payments, (paymentFails) => change(number, { paymentFails }))
  const used = make('p', { className: 'meta' })
  return {
    element: group('What messages cost', used, make('div', { className: 'fields' }, free.element, payment.element)),
    show: ({ freeServiceMessages, paymentFails, serviceMessages }, now) => {
      free.show(String(freeServiceMessages))
      payment.show(paymentFails)
      const count = serviceMessages.month === now.slice(0, 7) ? serviceMessages.count : 0
      used.textContent = `${count} service messages this month. Each message on a phone shows its price.`
    },
  }
}

function account(number) {
  let current = []
  const toggles = restrictions.map(([text, type]) => {
    const button = make('button', { type: 'button', text, 'aria-pressed': 'false' })
    button.addEventListener('click', () => {
      const others = current.filter((one) => one !== type)
      change(number, { restrictions: current.includes(type) ? others : [...others, type] })
    })
    return button
  })
  const announce = events.map(([text, event]) => {
    const button = make('button', { type: 'button', text })
    const body = { event, numberId: number.numberId }
    button.addEventListener('click', () => act(() => callSimulator('POST', '/simulator/account-events', body)))
    return button
  })
  const chips = (label, buttons) => make('div', { className: 'chips', role: 'group', 'aria-label': label }, ...buttons)
  const help = make('p', { className: 'meta', text: 'For all numbers of the account. Events are announced, no more.' })
  const element = group('Account', help, chips('Restrictions', toggles), chips('Events', announce))
  return {
    element,
    show: (latest) => {
      current = latest.restrictions
      for (const [at, toggle] of toggles.entries()) {
        toggle.setAttribute('aria-pressed', String(current.includes(restrictions[at][1])))
      }
    },
  }
}

function newChats(number) {
  const level = makeSelect('Limit on new chats', newChatLevels, (newChatLevel) => change(number, { newChatLevel }))
  const used = makeField('New chats used, of 50', { type: 'number', min: '0', max: '1000' }, (text) =>
    change(number, { newChatsUsed: Number(text) }),
  )
  let now = new Date().toISOString()
  const lock = makeSelect('Writing to new people', locks, (hours) => {
    const until = new Date(Date.parse(now) + hours * hourMs).toISOString()
    change(number, { newChatsLockedUntil: hours === 0 ? null : until })
  })
  const fields = make('div', { className: 'fields' }, level.element, used.element, lock.element)
  const help = make('p', { className: 'meta', text: 'Sent to the linked devices.' })
  return {
    element: group('New chats of the linked phone', help, fields),
    show: ({ newChatLevel, newChatsUsed, newChatsLockedUntil }, time) => {
      now = time
      level.show(newChatLevel)
      used.show(String(newChatsUsed))
      const leftHours = newChatsLockedUntil === null ? 0 : (Date.parse(newChatsLockedUntil) - Date.parse(time)) / hourMs
      lock.show(leftHours <= 0 ? 0 : leftHours <= 1 ? 1 : 24)
    },
  }
}
