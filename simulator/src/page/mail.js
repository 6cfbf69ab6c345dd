import { callSimulator, followChanges } from './dialogs.js'
import { make } from './elements.js'

const $ = (id) => document.getElementById(id)

/** Turns addresses into links. */
const withLinks = (text) =>
  text.split(/(https?:\/\/\S{1,2000})/).map((part, n) => (n % 2 === 1 ? make('a', { href: part, text: part }) : part))

function showMail({ at, to, subject, text }) {
  const lines = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => make('p', { className: 'meta' }, ...withLinks(line)))
  return make(
    'li',
    {},
    make('strong', { text: subject }),
    make('p', { className: 'meta', text: `${to} · ${new Date(at).toLocaleString()}` }),
    ...lines,
  )
}

async function show() {
  const { isOn, mails } = await callSimulator('GET', '/simulator/mails')
  $('about').hidden = !isOn
  $('off').hidden = isOn
  $('none').hidden = !isOn || mails.length > 0
  $('mails').replaceChildren(...mails.map(showMail))
}

followChanges(show)
