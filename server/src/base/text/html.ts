/** HTML that is safe to send: made by `html` (which escapes what it is given) or vouched for by `trustedHtml`. */
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
 * A template whose values are escaped for text and quoted attributes, unless they are `Html` themselves. Lists are
 * joined; null, undefined and booleans leave nothing, so that `condition && html`…`` reads well.
 */
export function html(strings: TemplateStringsArray, ...values: HtmlPart[]): Html {
  return new Html(strings.reduce((text, string, index) => text + shown(values[index - 1]) + string))
}

/** Vouches for text that is HTML already. Never give it anything that a person typed. */
export function trustedHtml(text: string): Html {
  return new Html(text)
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`)
}

function shown(part: HtmlPart): string {
  if (part === null || part === undefined || typeof part === 'boolean') return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part))
  return part.map(shown).join('')
}
