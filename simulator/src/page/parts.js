import { icon, make } from './elements.js'

const units = ['bytes', 'kB', 'MB', 'GB']

export function sizeWords(bytes) {
  let value = bytes
  let unit = 0
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`
}

const addressOf = ({ id }) => `/simulator/files/${encodeURIComponent(id)}`

/** Returns the elements for a message's parts other than text. */
export function partsOf(message) {
  const { file, place, cards } = message
  return [file && fileOf(file), place && placeOf(place), ...cards.map(cardOf)].filter(Boolean)
}

function fileOf(file) {
  if (file.link) return linkOf(file)
  const src = addressOf(file)
  switch (file.kind) {
    case 'image':
    case 'sticker':
      return pictureOf(file, src)
    case 'video':
      return withFallback(
        make('video', { className: 'clip', src, controls: '', preload: 'metadata', playsinline: '', ...sizeOf(file) }),
        'Video',
      )
    case 'audio':
    case 'voice':
      return withFallback(
        make('audio', { className: 'sound', src, controls: '', preload: 'metadata', 'aria-label': labels[file.kind] }),
        labels[file.kind],
      )
    default:
      return documentOf(file, src)
  }
}

const labels = { voice: 'Voice message', audio: 'Audio' }

// Reserves the space before the picture loads, so that the layout does not shift.
const sizeOf = ({ width, height }) => (width && height ? { width: String(width), height: String(height) } : {})

function withFallback(element, what) {
  element.addEventListener('error', () => {
    element.replaceWith(make('span', { className: 'lost', text: `${what}: cannot be displayed here` }))
  })
  return element
}

function pictureOf(file, src) {
  const alt = file.kind === 'sticker' ? 'Sticker' : 'Photo'
  const picture = make('img', { src, alt, loading: 'lazy', ...sizeOf(file) })
  withFallback(picture, alt)
  const link = make(
    'a',
    {
      className: file.kind === 'sticker' ? 'picture sticker' : 'picture',
      href: src,
      target: '_blank',
      rel: 'noopener',
    },
    picture,
  )
  link.setAttribute('aria-label', `Open: ${alt}`)
  return link
}

function documentOf(file, src) {
  const name = file.name || 'Document'
  return make(
    'a',
    // The server's Content-Disposition takes precedence over the link's `download`.
    { className: 'paper', href: `${src}?name=${encodeURIComponent(name)}`, download: name },
    icon('document'),
    make(
      'span',
      { className: 'paper-words' },
      make('strong', { text: name, dir: 'auto' }),
      make('span', { className: 'meta', text: file.size === null ? '' : sizeWords(file.size) }),
    ),
  )
}

const linkOf = ({ link, name }) =>
  make(
    'a',
    { className: 'paper', href: link, target: '_blank', rel: 'noopener noreferrer' },
    icon('document'),
    make(
      'span',
      { className: 'paper-words' },
      make('strong', { text: name || 'Link' }),
      make('span', { className: 'meta', text: link }),
    ),
  )

function placeOf({ latitude, longitude, name, address }) {
  const href = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=16/${latitude}/${longitude}`
  return make(
    'a',
    { className: 'paper', href, target: '_blank', rel: 'noopener noreferrer' },
    icon('place'),
    make(
      'span',
      { className: 'paper-words' },
      make('strong', { text: name || 'Location', dir: 'auto' }),
      make('span', { className: 'meta', text: [address, `${latitude}, ${longitude}`].filter(Boolean).join(' · ') }),
    ),
  )
}

const cardOf = ({ name, organisation, phones, emails = [] }) =>
  make(
    'span',
    { className: 'paper' },
    icon('person'),
    make(
      'span',
      { className: 'paper-words' },
      make('strong', { text: name, dir: 'auto' }),
      make('span', {
        className: 'meta',
        text: [organisation, ...phones.map((phone) => `+${phone}`), ...emails].filter(Boolean).join(' · '),
      }),
    ),
  )

/** Renders the quoted message, linked to the original. */
export function quoteOf(quoted, isMine) {
  const quote = make(
    'button',
    { type: 'button', className: 'quote' },
    make('strong', { text: isMine(quoted) ? 'You' : 'Them' }),
    make('span', { text: quoted.isWithdrawn ? 'Deleted' : quoted.caption || quoted.text, dir: 'auto' }),
  )
  quote.addEventListener('click', () => {
    const target = document.querySelector(`[data-id="${CSS.escape(quoted.id)}"]`)
    target?.scrollIntoView({ block: 'center' })
    target?.classList.add('found')
    setTimeout(() => target?.classList.remove('found'), 1200)
  })
  return quote
}

export function reactionsOf({ reactions }) {
  const given = [...new Set(Object.values(reactions).filter(Boolean))]
  return given.length === 0
    ? null
    : make('span', { className: 'reactions', text: given.join(' '), 'aria-label': `Reactions: ${given.join(' ')}` })
}
