/** A body with `{{1}}`, `{{2}}`, … and how its parameters go back to the platform. */
export interface TemplateBody {
  body: string
  parameterCount: number
  /** The platform's names in the order of ours; null when it takes them by position. */
  parameterNames: string[] | null
}

const placeholder = /\{\{\s*(\w+)\s*\}\}/g

/**
 * Rewrites a body of the platform. Named parameters are numbered by their first appearance and positional ones by
 * their number; a repeated placeholder is one parameter. Blanks inside the braces do not count.
 */
export function readBody(text: string, isNamed: boolean): TemplateBody {
  const found = [...new Set([...text.matchAll(placeholder)].map((match) => match[1] ?? ''))]
  const named = isNamed || found.some((name) => !/^\d+$/.test(name))
  const order = named ? found : found.sort((a, b) => Number(a) - Number(b))
  return {
    body: text.replace(placeholder, (_, name: string) => `{{${order.indexOf(name) + 1}}}`),
    parameterCount: order.length,
    parameterNames: named && order.length > 0 ? order : null,
  }
}

export function hasPlaceholder(text: string): boolean {
  return text.search(placeholder) >= 0
}

/** The body with its parameters filled in: values are put in as they are, braces in them included. */
export function fillBody(body: string, parameters: readonly string[]): string {
  return body.replace(placeholder, (whole, number: string) => parameters[Number(number) - 1] ?? whole)
}

/** The platform writes `en-US` in its webhooks and `en_US` elsewhere. */
export function normalLanguage(code: string): string {
  return code.replaceAll('-', '_')
}
