// Text from strangers becomes text nodes only; there is no HTML in this widget.

type Child = Node | string | null | false

/** Creates an element with attributes (false leaves one out), listeners by the name of their event, and children. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | boolean | (() => void)> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value)
    else if (value !== false) element.setAttribute(name, value === true ? '' : value)
  }
  element.append(...children.filter((child) => child !== null && child !== false))
  return element
}

const address = /https?:\/\/[^\s<>"]{1,2000}/g
const trailing = /[.,;:!?)\]}'"]{1,9}$/

/** Returns a text with its web addresses as links. */
export function linked(text: string): Child[] {
  const parts: Child[] = []
  let from = 0
  for (const { 0: found, index } of text.matchAll(address)) {
    const url = found.replace(trailing, '')
    parts.push(text.slice(from, index), linkTo(url, url) ?? url)
    from = index + url.length
  }
  return [...parts, text.slice(from)]
}

/** Returns a link; null unless it is a web address: others could run scripts. */
export function linkTo(url: string, title: string): HTMLAnchorElement | null {
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return null
  return make('a', { href: parsed.href, target: '_blank', rel: 'noopener noreferrer nofollow' }, title)
}

/** Returns whether white or black text is readable on a color. */
export function textOn(color: string): '#fff' | '#000' {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  // The contrast with black and with white is equal at this brightness.
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? '#000' : '#fff'
}
