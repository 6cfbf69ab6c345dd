/** Safe HTML: from `html`, which escapes its values, or marked by `trustedHtml`. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toString(): string {
    return this.text
  }
}

export type HtmlPart = Html | string | number | boolean | null | undefined | readonly HtmlPart[]

/**
 * Escapes the values of a template for text and quoted attributes, except `Html`. Joins lists; null, undefined and
 * booleans add nothing, so that `condition && html`…`` works.
 */
export function html(strings: TemplateStringsArray, ...values: HtmlPart[]): Html {
  return new Html(strings.reduce((text, string, index) => text + renderPart(values[index - 1]) + string))
}

/** Marks a text as HTML. Must not contain user input. */
export function trustedHtml(text: string): Html {
  return new Html(text)
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`)
}

function renderPart(part: HtmlPart): string {
  if (part === null || part === undefined || typeof part === 'boolean') return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part))
  return part.map(renderPart).join('')
}
