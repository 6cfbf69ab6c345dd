import { callSimulator, followChanges, runAction } from './dialogs.js'
import { make } from './elements.js'

const $ = (id) => document.getElementById(id)
const categories = ['MARKETING', 'UTILITY', 'AUTHENTICATION']
const qualities = ['UNKNOWN', 'GREEN', 'YELLOW', 'RED']
const reasons = ['INVALID_FORMAT', 'TAG_CONTENT_MISMATCH', 'PROMOTIONAL', 'SCAM', 'ABUSIVE_CONTENT']

const refresh = followChanges(show)
const decide = (id, change) => runAction(() => callSimulator('PATCH', `/simulator/templates/${id}`, change), refresh)

/** What is shown now: a page that is being typed in is not replaced by the same templates. */
let shown = ''

async function show() {
  const { templates } = await callSimulator('GET', '/simulator/templates')
  const text = JSON.stringify(templates)
  if (text === shown) return
  shown = text
  $('empty').hidden = templates.length > 0
  const pendingFirst = [...templates].reverse().sort((a, b) => isPending(b) - isPending(a))
  $('templates').replaceChildren(...pendingFirst.map(card))
}

const isPending = ({ status }) => Number(status === 'PENDING')

function card(template) {
  const { id, name, language, status, category, quality_score: quality, rejected_reason: reason } = template
  const title = make('strong', { text: name })
  const state = [language, status, ...(reason ? [reason] : [])].join(' · ')
  return make(
    'li',
    { className: 'template', 'data-template': name },
    make('header', {}, title, make('span', { className: 'meta', text: state })),
    make('p', { className: 'words', dir: 'auto', text: wordsOf(template) }),
    make(
      'div',
      { className: 'row' },
      action('Approve', () => decide(id, { status: 'APPROVED' }), status !== 'APPROVED'),
      action('Pause', () => decide(id, { status: 'PAUSED' }), status === 'APPROVED'),
      action('Disable', () => decide(id, { status: 'DISABLED' }), status === 'APPROVED' || status === 'PAUSED'),
      choice('Category', categories, category, (value) => decide(id, { category: value })),
      choice('Quality', qualities, quality?.score ?? 'UNKNOWN', (value) => decide(id, { quality: value })),
    ),
    status === 'REJECTED' ? null : rejectForm(id, name),
  )
}

function action(text, work, isShown) {
  if (!isShown) return null
  const button = make('button', { type: 'button', text })
  button.addEventListener('click', work)
  return button
}

function choice(label, values, value, work) {
  const options = values.map((one) => make('option', { value: one, text: one }))
  const select = make('select', {}, ...options)
  select.value = value
  select.addEventListener('change', () => work(select.value))
  return make('label', { className: 'meta' }, document.createTextNode(`${label} `), select)
}

function rejectForm(id, name) {
  const reason = make('select', { 'aria-label': 'Reason' }, ...reasons.map((one) => make('option', { text: one })))
  const words = make('input', { 'aria-label': `Explanation for ${name}`, placeholder: 'Explanation', maxlength: '500' })
  const form = make('form', {}, reason, words, make('button', { type: 'submit', text: 'Reject' }))
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const explained = words.value.trim()
    const rejection = explained
      ? { rejection: { reason: explained, recommendation: 'Change it and submit it again.' } }
      : {}
    decide(id, { status: 'REJECTED', rejectedReason: reason.value, ...rejection })
  })
  return form
}

/** The parts of a template as lines. */
function wordsOf({ components }) {
  return components
    .flatMap(({ type, format, text, buttons = [] }) => {
      if (type === 'HEADER' && format !== 'TEXT') return [`[${format}]`]
      return type === 'BUTTONS' ? buttons.map((button) => `[${button.text}] ${button.url ?? ''}`.trim()) : [text]
    })
    .join('\n')
}
