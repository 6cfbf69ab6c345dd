/** Makes an element: text is set as text, so that nothing a person typed becomes HTML. */
export function make(tag, { className, text, ...attributes } = {}, ...children) {
  const element = document.createElement(tag)
  if (className) element.className = className
  if (text !== undefined) element.textContent = text
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children.filter(Boolean))
  return element
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
  pending: ['M12 7v5l3 2', 'M12 4a8 8 0 1 0 0 16a8 8 0 1 0 0-16'],
  sent: ['M5 12.5l4.5 4.5L19 7.5'],
  delivered: ['M2 12.5l4.5 4.5L15 8', 'M12 16l1 1L22 8'],
  failed: ['M12 8v4.5', 'M12 16v.01', 'M12 3.5a8.5 8.5 0 1 0 0 17a8.5 8.5 0 1 0 0-17'],
}
paths.read = paths.delivered

/** A line drawing; `label` names it for who cannot see it. */
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
