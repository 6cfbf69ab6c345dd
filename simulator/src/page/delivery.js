import { onSubmit } from './chat.js'
import { callSimulator, followChanges, runAction } from './dialogs.js'
import { make, makeField, makeSelect } from './elements.js'

const $ = (id) => document.getElementById(id)

const calls = [
  ['Sends', 'send'],
  ['Reading of messages, typing', 'read'],
  ['List of templates', 'templates'],
  ['New, changed and deleted templates', 'template'],
  ['Uploads', 'upload'],
  ['Address of a file', 'media'],
  ['Download of a file', 'file'],
  ['All', 'any'],
]
const effects = [
  ['Refused with the code', 'refuse'],
  ['Accepted, then fails with the code', 'fail'],
  ['No answer', 'hang'],
  ['Connection broken', 'reset'],
  ['Answered after 30 s', 'late'],
  ['Server error', 'server_error'],
  ['HTML instead of JSON', 'html'],
  ['Broken JSON', 'garbage'],
  ['File: address expired', 'expired'],
  ['File: not found', 'not_found'],
  ['File: takes 30 s', 'slow'],
  ['File: another size', 'wrong_size'],
  ['File: another type', 'wrong_type'],
  ['File: another hash', 'wrong_hash'],
  ['File: never ends', 'endless'],
]
const codes = [
  [130_429, 'Too many messages'],
  [131_000, 'Unknown error'],
  [131_031, 'Account locked'],
  [131_042, 'Payment problem'],
  [131_048, 'Spam rate'],
  [131_049, 'Not delivered, to keep the customer engaged'],
  [131_050, 'Customer stopped marketing'],
  [131_056, 'Too many messages to this customer'],
  [132_015, 'Template paused'],
  [133_010, 'Number not registered'],
]
const times = [
  ['Once', '1'],
  ['The next 5 calls', '5'],
  ['Until removed', ''],
]
const accepts = [
  ['Not sent', ''],
  ['Sent anyway', 'yes'],
]
const yesOrNo = [
  ['No', false],
  ['Yes', true],
]
/** Settings of the delivery: label, field, and a factor for numbers; booleans have none. */
const settings = [
  ['Delay in seconds', 'delayMs', 1000],
  ['Extra copies', 'duplicates', 1],
  ['Next changes to lose', 'drop', 1],
  ['Changes in one webhook', 'batch', 1],
  ['Changes to shuffle', 'reorder', 1],
  ['Collect everything', 'paused'],
  ['Omit the status delivered', 'skipDelivered'],
  ['Escape slashes', 'escapeSlashes'],
]
const ladder = [
  ['Seconds to sent', 'sentMs', 1000],
  ['Seconds from sent to delivered', 'deliveredMs', 1000],
  ['Seconds from delivered to read', 'readMs', 1000],
]

const refresh = followChanges(show)
const act = (work) => runAction(work, refresh)

async function show() {
  const [{ faults }, delivery, { customers }] = await Promise.all([
    callSimulator('GET', '/simulator/faults'),
    callSimulator('GET', '/simulator/delivery'),
    callSimulator('GET', '/simulator/customers'),
  ])
  showFaults(faults)
  showCustomers(customers)
  for (const [field, showValue] of webhooks) showValue(delivery[field])
  for (const [field, showValue] of statuses) showValue(delivery.ladder[field])
  const counts = Object.entries(delivery.counts).map(([name, count]) => `${name} ${count}`)
  $('counts').textContent = [`waiting ${delivery.pending}`, ...counts].join(' · ')
}

const nameIn = (options, value) => options.find(([, one]) => one === value)?.[0] ?? value

function showFaults(faults) {
  $('none').hidden = faults.length > 0
  const rows = faults.map(({ id, on, effect, code, to, times: left }) => {
    const hasCode = effect === 'refuse' || effect === 'fail'
    const often = left === null ? 'until removed' : left === 1 ? 'once' : `${left} times`
    const words = [nameIn(calls, on), nameIn(effects, effect), hasCode && code, to !== null && `to ${to}`, often]
    const text = words.filter(Boolean).join(' · ')
    const button = make('button', { type: 'button', text: 'Remove', 'aria-label': `Remove: ${text}` })
    button.addEventListener('click', () => act(() => callSimulator('DELETE', `/simulator/faults/${id}`)))
    return make('li', { className: 'entry' }, make('span', { text }), button)
  })
  $('faults').replaceChildren(...rows)
}

function showCustomers(customers) {
  const options = [['Everyone', ''], ...customers.map(({ name, phone }) => [`${name} · +${phone}`, phone])]
  if ($('to').options.length === options.length) return
  const chosen = $('to').value
  fill('to', options)
  $('to').value = chosen
}

const fill = (id, options) => $(id).replaceChildren(...options.map(([text, value]) => make('option', { value, text })))

/** Adds controls to a place; returns the functions that show the values, by field. */
function controls(place, list, path) {
  return list.map(([label, field, factor]) => {
    const change = (value) => act(() => callSimulator('PATCH', path, { [field]: value }))
    const isFlag = factor === undefined
    const control = isFlag
      ? makeSelect(label, yesOrNo, change)
      : makeField(label, { type: 'number', min: '0', step: 'any' }, (text) => change(Math.round(Number(text) * factor)))
    $(place).append(control.element)
    return [field, (value) => control.show(isFlag ? value : String(value / factor))]
  })
}

const webhooks = controls('webhooks', settings, '/simulator/delivery')
const statuses = controls('ladder', ladder, '/simulator/ladder')
for (const [id, options] of Object.entries({ on: calls, effect: effects, times, accepts })) fill(id, options)
$('codes').append(...codes.map(([code, text]) => make('option', { value: String(code), text })))
onSubmit(
  'add',
  ({ on, effect, code, to, times: often, accepts: isSent }) =>
    act(() =>
      callSimulator('POST', '/simulator/faults', {
        ...{ on, effect, code: Number(code), to: to || null, accepts: isSent !== '' },
        times: often === '' ? null : Number(often),
      }),
    ),
  { keeps: true },
)
for (const id of ['flush', 'calm']) {
  $(id).addEventListener('click', () => act(() => callSimulator('POST', `/simulator/delivery/${id}`)))
}
