import type { TemplateButton, TemplateContent } from '../data/team/templates.ts'

const variable = /\{\{([^{}]*)\}\}/g

/** Returns the names of the variables in a text, each once, in order of appearance. */
export const variablesIn = (text: string): string[] => [
  ...new Set([...text.matchAll(variable)].map(([, name = '']) => name.trim())),
]

/** Returns the next variable for a text: the next number, or a name that is not used yet. */
export function nextVariable(text: string, format: TemplateContent['format']): string {
  const used = variablesIn(text)
  const free = (name: (n: number) => string): string => {
    let n = 1
    while (used.includes(name(n))) n++
    return `{{${name(n)}}}`
  }
  return free(format === 'positional' ? String : (n) => `value_${n}`)
}

/** Returns a text with its variables replaced; those without a value stay. */
export const fillVariables = (text: string, sampleFor: (name: string) => string): string =>
  text.replace(variable, (whole, name: string) => sampleFor(name.trim()).trim() || whole)

/** Returns the sample value of a variable of the body. */
export const sampleOf = ({ samples }: TemplateContent, name: string): string =>
  samples.find((sample) => sample.name === name)?.value ?? ''

/** Returns the samples with a new value; those of variables that are gone are dropped. */
export const withSample = (content: TemplateContent, name: string, value: string): TemplateContent['samples'] =>
  variablesIn(content.body).map((one) => ({ name: one, value: one === name ? value : sampleOf(content, one) }))

/** Returns the content with its variables numbered or named, in order of appearance. */
export function convertFormat(content: TemplateContent, format: TemplateContent['format']): TemplateContent {
  if (format === content.format) return content
  const rename = (text: string) => {
    const names = variablesIn(text)
    const newName = (name: string) => (format === 'positional' ? `${names.indexOf(name) + 1}` : `value_${name}`)
    return { text: text.replace(variable, (_, name: string) => `{{${newName(name.trim())}}}`), newName, names }
  }
  const [body, header] = [rename(content.body), rename(content.header.text)]
  return {
    ...content,
    format,
    body: body.text,
    samples: body.names.map((name) => ({ name: body.newName(name), value: sampleOf(content, name) })),
    header: { ...content.header, text: header.text },
  }
}

export const emptyButton = (type: TemplateButton['type']): TemplateButton => ({ type, text: '', value: '', sample: '' })

/** Returns a list with one item moved by one place; the same list at its end. */
export function moved<T>(items: readonly T[], from: number, by: -1 | 1): T[] {
  const [one, other] = [items[from], items[from + by]]
  return one === undefined || other === undefined ? [...items] : items.with(from, other).with(from + by, one)
}

const defaultLanguages =
  'af sq ar az bn bg ca zh_CN zh_HK zh_TW hr cs da nl en en_GB en_US et fil fi fr ka de el gu ha he hi hu id ga it ja kn kk rw_RW ko ky_KG lo lv lt mk ms ml mr nb fa pl pt_BR pt_PT pa ro ru sr sk sl es es_AR es_ES es_MX sw sv ta te th tr uk ur uz vi zu'

/** Languages of the platform that are offered; another one of a template is added. */
export const languagesWith = (chosen: string): string[] => [...new Set([...defaultLanguages.split(' '), chosen])]
