/** Makes an element. Sets text as text, so that user input never becomes HTML. */
export function make(tag, { className, text, ...attributes } = {}, ...children) {
  const element = document.createElement(tag)
  if (className) element.className = className
  if (text !== undefined) element.textContent = text
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children.filter(Boolean))
  return element
}

/**
 * Makes a labelled list of options `[text, value]`, which calls `change` with the chosen value. `show` selects a value
 * without a call.
 */
export function makeSelect(label, options, change) {
  const list = make('select', {}, ...options.map(([text], at) => make('option', { value: String(at), text })))
  list.addEventListener('change', () => change(options[Number(list.value)][1]))
  return {
    element: make('label', { text: label }, list),
    show: (value) => {
      list.value = String(options.findIndex(([, one]) => one === value))
    },
  }
}

/** Makes a labelled field that calls `change` with its text when it is left. `show` does not replace what is typed. */
export function makeField(label, attributes, change) {
  const input = make('input', attributes)
  input.addEventListener('change', () => change(input.value))
  return {
    element: make('label', { text: label }, input),
    show: (text) => {
      if (document.activeElement !== input) input.value = text
    },
  }
}

const paths = {
  back: ['M15 6l-6 6 6 6'],
  more: ['M12 5.5v.01M12 12v.01M12 18.5v.01'],
  scan: [
    'M4 8V5a1 1 0 0 1 1-1h3',
    'M16 4h3a1 1 0 0 1 1 1v3',
    'M20 16v3a1 1 0 0 1-1 1h-3',
    'M8 20H5a1 1 0 0 1-1-1v-3',
    'M4 12h16',
  ],
  send: ['M5 12h13', 'M13 6l6 6-6 6'],
  attach: ['M12 5v14', 'M5 12h14'],
  cancel: ['M6 6l12 12', 'M18 6L6 18'],
  document: ['M7 3h7l4 4v13a1 1 0 0 1-1 1H7a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1', 'M14 3v4h4', 'M9 13h6', 'M9 16.5h4'],
  microphone: [
    'M12 4a2.5 2.5 0 0 0-2.5 2.5v5a2.5 2.5 0 0 0 5 0v-5A2.5 2.5 0 0 0 12 4',
    'M6.5 11.5a5.5 5.5 0 0 0 11 0',
    'M12 17v3',
  ],
  person: ['M12 5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 1 0 0-7', 'M5 20c.8-3.4 3.5-5 7-5s6.2 1.6 7 5'],
  photo: [
    'M5 5h14a1 1 0 0 1 1 1v12a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1',
    'M4 16l4.5-5 4 4.5 2.5-2.5 5 5',
    'M15.5 9v.01',
  ],
  place: ['M12 21c4-4.4 6-7.6 6-10.5a6 6 0 1 0-12 0C6 13.4 8 16.6 12 21', 'M12 8.5a2 2 0 1 0 0 4a2 2 0 1 0 0-4'],
  pending: ['M12 7v5l3 2', 'M12 4a8 8 0 1 0 0 16a8 8 0 1 0 0-16'],
  sent: ['M5 12.5l4.5 4.5L19 7.5'],
  delivered: ['M2 12.5l4.5 4.5L15 8', 'M12 16l1 1L22 8'],
  failed: ['M12 8v4.5', 'M12 16v.01', 'M12 3.5a8.5 8.5 0 1 0 0 17a8.5 8.5 0 1 0 0-17'],
}
paths.read = paths.delivered

/** Draws an icon; `label` is its accessible name. */
export function icon(name, label) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('class', `drawing ${name}`)
  if (label) {
    svg.setAttribute('role', 'img')
    svg.setAttribute('aria-label', label)
    const title = document.createElementNS(svg.namespaceURI, 'title')
    title.textContent = label
    svg.append(title)
  } else svg.setAttribute('aria-hidden', 'true')
  for (const d of paths[name]) {
    const path = document.createElementNS(svg.namespaceURI, 'path')
    path.setAttribute('d', d)
    svg.append(path)
  }
  return svg
}

export const initialsOf = (name) =>
  name
    .replace(/^\+/, '')
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => [...word][0] ?? '')
    .join('')
    .toUpperCase()
