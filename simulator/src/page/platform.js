import { onSubmit } from './chat.js'
import { callSimulator, followChanges, runAction } from './dialogs.js'
import { make, makeField, makeSelect } from './elements.js'

const $ = (id) => document.getElementById(id)
const hourMs = 3_600_000

/** Faults of the calls with which a number is connected; null: none. */
const answers = [
  ['Normal', null],
  ['Too many calls · 80007', { effect: 'refuse', code: 80_007 }],
  ['Error · 1', { effect: 'refuse', code: 1 }],
  ['No answer', { effect: 'hang' }],
  ['Connection broken', { effect: 'reset' }],
  ['HTML instead of JSON', { effect: 'html' }],
]

/** What can be wrong with a number: label, field, and what the options set. */
const choices = [
  [
    'State of the token',
    'tokenState',
    [
      ['Does not expire', 'valid'],
      ['Temporary, of a person', 'temporary'],
      ['Expired', 'expired'],
      ['Revoked', 'revoked'],
    ],
  ],
  [
    'Missing permission',
    'missingPermission',
    [
      ['None', 'none'],
      ['Messaging', 'whatsapp_business_messaging'],
      ['Management', 'whatsapp_business_management'],
    ],
  ],
  [
    'Registered',
    'registered',
    [
      ['Yes', true],
      ['No', false],
    ],
  ],
  [
    'Verified by SMS',
    'verified',
    [
      ['Yes', true],
      ['No', false],
    ],
  ],
  [
    'Status',
    'standing',
    [
      ['Normal', 'NORMAL'],
      ['Flagged', 'FLAGGED'],
      ['Restricted', 'RESTRICTED'],
      ['Banned', 'BANNED'],
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
    'Stays on the phone’s app',
    'isOnPhone',
    [
      ['Yes', true],
      ['No', false],
    ],
  ],
  [
    'App of the token',
    'subscribed',
    [
      ['Subscribed', true],
      ['Not subscribed', false],
    ],
  ],
  [
    'Another app',
    'hasOtherApp',
    [
      ['Subscribed', true],
      ['Not subscribed', false],
    ],
  ],
]

const cards = new Map()
const refresh = followChanges(show)
const act = (work) => runAction(work, refresh)
const change = ({ numberId }, fields) =>
  act(() => callSimulator('PATCH', `/simulator/numbers/${encodeURIComponent(numberId)}`, fields))

async function show() {
  const [{ numbers }, { faults }] = await Promise.all([
    callSimulator('GET', '/simulator/numbers'),
    callSimulator('GET', '/simulator/faults'),
  ])
  const official = numbers.filter(({ network, partner }) => network === 'official' && partner === null)
  $('none').hidden = official.length > 0
  showAccounts(official)
  showFaults(faults.filter(({ on }) => on === 'setup'))
  for (const number of official) {
    if (!cards.has(number.numberId)) cards.set(number.numberId, addCard(number))
    cards.get(number.numberId)(number)
  }
}

function showAccounts(numbers) {
  if ($('account').options.length === numbers.length + 1) return
  const options = numbers.map(({ numberId, name }) => make('option', { value: numberId, text: `Account of ${name}` }))
  $('account').replaceChildren(make('option', { value: '', text: 'A new one' }), ...options)
}

function showFaults(faults) {
  const isOn = (wanted) =>
    wanted === null
      ? faults.length === 0
      : faults.some(({ effect, code }) => effect === wanted.effect && (wanted.code ?? code) === code)
  for (const [at, button] of [...$('faults').children].entries()) {
    button.setAttribute('aria-pressed', String(isOn(answers[at][1])))
  }
}

async function answerWith(fault) {
  const { faults } = await callSimulator('GET', '/simulator/faults')
  for (const { id } of faults.filter(({ on }) => on === 'setup')) {
    await callSimulator('DELETE', `/simulator/faults/${id}`)
  }
  if (fault !== null) await callSimulator('POST', '/simulator/faults', { ...fault, on: 'setup', times: null })
}

/** Adds the card of a number; returns what shows its changes, which keeps the focus. */
function addCard(number) {
  const credentials = [
    ['Phone number ID', 'numberId'],
    ['Business account ID', 'accountId'],
    ['Access token', 'accessToken'],
    ['App secret', 'appSecret'],
  ].map(([label, field]) => {
    const input = make('input', { readonly: '', value: number[field], 'aria-label': label })
    input.addEventListener('focus', () => input.select())
    return make('label', { text: label }, input)
  })
  const selects = choices.map(([label, field, options]) => ({
    field,
    ...makeSelect(label, options, (value) => change(number, { [field]: value })),
  }))
  const pin = makeField('PIN', { inputmode: 'numeric', maxlength: '6', placeholder: 'None yet' }, (text) =>
    change(number, { pin: text }),
  )
  const callback = makeField('Callback URL', { type: 'url', placeholder: 'None' }, (text) =>
    change(number, { callbackUrl: text || null }),
  )
  const age = make(
    'select',
    {},
    ...['Now', '25 hours ago'].map((text, at) => make('option', { value: String(at * 25), text })),
  )
  age.addEventListener('change', () => {
    const onboardedAt = new Date(Date.now() - Number(age.value) * hourMs).toISOString()
    change(number, { onboardedAt })
  })
  const title = make('h3')
  const fields = make(
    'div',
    { className: 'fields' },
    ...selects.map(({ element }) => element),
    pin.element,
    callback.element,
    make('label', { text: 'Connected to the platform' }, age),
  )
  const heading = make('div', { className: 'fields' }, ...credentials)
  $('numbers').append(make('li', {}, title, heading, fields))
  return (now) => {
    title.textContent = `${now.name} · +${now.phone}`
    for (const { field, show: showValue } of selects) showValue(now[field])
    pin.show(now.pin)
    callback.show(now.callbackUrl ?? '')
  }
}

$('address').textContent = location.origin
for (const [text, fault] of answers) {
  const button = make('button', { type: 'button', text, 'aria-pressed': 'false' })
  button.addEventListener('click', () => act(() => answerWith(fault)))
  $('faults').append(button)
}
onSubmit('add', ({ name, phone, sharesAccountOf }) =>
  act(() =>
    callSimulator('POST', '/simulator/numbers', {
      ...{ name, phone: phone.replace(/\D/g, ''), isNew: true },
      ...(sharesAccountOf ? { sharesAccountOf } : {}),
    }),
  ),
)
