import type { Lead } from '../leads/lead/lead.ts'
import type { Step } from './sequence-schema.ts'

const known = ['contact.name', 'contact.first_name', 'contact.email', 'workspace.name'] as const
const fieldKey = /^field\.[a-z][a-z0-9_]{0,39}$/
const placeholder = /\{\{([^{}]{1,200})\}\}/g

/** Returns the name of a placeholder, and the value for when it is empty. */
function readPlaceholder(inner: string): { name: string; otherwise: string } {
  const at = inner.indexOf('|')
  if (at === -1) return { name: inner.trim(), otherwise: '' }
  return { name: inner.slice(0, at).trim(), otherwise: inner.slice(at + 1).trim() }
}

const isKnown = (name: string): boolean => fieldKey.test(name) || known.some((one) => one === name)

/** Returns whether a text contains a placeholder in `{{…}}` that nothing fills in. */
export function hasUnknownPlaceholder(text: string): boolean {
  return [...text.matchAll(/\{\{([^{}]*)\}\}/g)].some(([, inner = '']) => !isKnown(readPlaceholder(inner).name))
}

/** Returns the texts of a step that may contain placeholders, with their paths. */
export function textsOf({ text, template }: Step): { path: string; text: string }[] {
  const { body_params = [], header_param, header_url, button_params = [] } = template ?? {}
  return [
    ...(text === undefined ? [] : [{ path: 'text', text }]),
    ...body_params.map((param, n) => ({ path: `template.body_params[${n}]`, text: param })),
    ...(header_param === undefined ? [] : [{ path: 'template.header_param', text: header_param }]),
    ...(header_url === undefined ? [] : [{ path: 'template.header_url', text: header_url }]),
    ...button_params.map((param, n) => ({ path: `template.button_params[${n}]`, text: param })),
  ]
}

/** Returns the body of the send of a step. */
export function bodyOf({ text, template }: Step, lead: Lead, workspaceName: string): object {
  const fill = (one: string) => fillPlaceholders(one, lead, workspaceName)
  if (template === undefined) return { kind: 'text', text: fill(text ?? '') }
  // The platform refuses values with line breaks, tabs or many spaces.
  const fillValue = (one: string) => fill(one).replaceAll(/\s+/g, ' ').trim()
  const { body_params, header_param, header_url, button_params } = template
  return {
    kind: 'template',
    template: {
      ...template,
      ...(body_params !== undefined && { body_params: body_params.map(fillValue) }),
      ...(header_param !== undefined && { header_param: fillValue(header_param) }),
      ...(header_url !== undefined && { header_url: fillValue(header_url) }),
      ...(button_params !== undefined && { button_params: button_params.map(fillValue) }),
    },
  }
}

function fillPlaceholders(text: string, lead: Lead, workspaceName: string): string {
  return text.replaceAll(placeholder, (whole, inner: string) => {
    const { name, otherwise } = readPlaceholder(inner)
    if (!isKnown(name)) return whole
    return valueFor(name, lead, workspaceName) || otherwise
  })
}

function valueFor(name: string, lead: Lead, workspaceName: string): string {
  switch (name) {
    case 'contact.name':
      return nameOf([lead.firstName, lead.lastName].filter(Boolean).join(' '))
    case 'contact.first_name':
      return nameOf(lead.firstName.trim().split(/\s/, 1)[0] ?? '')
    case 'contact.email':
      return lead.email ?? ''
    case 'workspace.name':
      return workspaceName
    default: {
      const key = name.slice('field.'.length)
      return String(lead.customFields.find((field) => field.key === key)?.value ?? '')
    }
  }
}

/** A lead that was created of a customer without a name has their number as its name. */
const nameOf = (name: string): string => (/[^\d\s()+.-]/.test(name) ? name : '')
