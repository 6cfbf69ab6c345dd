import type { Reply, ShownPrompt } from '../../data/inbox/types.ts'

export type PromptType = ShownPrompt['type']
export const promptTypes = [
  ...(['link', 'location_request', 'contact_request', 'address_request', 'flow'] as const),
] as const satisfies PromptType[]

/** Fields of the form as typed. */
export interface PromptForm {
  text: string
  title: string
  url: string
  flowId: string
}

export const emptyForm: PromptForm = { text: '', title: '', url: '', flowId: '' }

/** The platform's limits, in UTF-16 units. */
export const promptLimits: Record<keyof PromptForm, number> = { text: 1024, title: 20, url: 2000, flowId: 32 }

/** Fields of each type, in the order of the form. */
export const fieldsOf: Record<PromptType, readonly (keyof PromptForm)[]> = {
  link: ['text', 'title', 'url'],
  location_request: ['text'],
  contact_request: ['text'],
  address_request: ['text'],
  flow: ['text', 'title', 'flowId'],
}

/** Returns what is wrong with a field, or null. */
export function promptProblem(field: keyof PromptForm, typed: string): 'empty' | 'url' | 'flowId' | null {
  const value = typed.trim()
  if (value === '') return 'empty'
  if (field === 'url') return isWebAddress(value) ? null : 'url'
  if (field === 'flowId') return /^\d+$/.test(value) ? null : 'flowId'
  return null
}

function isWebAddress(address: string): boolean {
  if (/\s/.test(address) || !/^https?:\/\//i.test(address) || !URL.canParse(address)) return false
  const { hostname, username, password } = new URL(address)
  return hostname.includes('.') && username === '' && password === ''
}

/** Returns the message of a valid form. */
export function promptReply(type: PromptType, form: PromptForm): Reply {
  const text = form.text.trim()
  const title = form.title.trim()
  switch (type) {
    case 'link':
      return { kind: type, link: { text, title, url: form.url.trim() } }
    case 'location_request':
      return { kind: type, location_request: { text } }
    case 'contact_request':
      return { kind: type, contact_request: { text } }
    case 'address_request':
      return { kind: type, address_request: { text } }
    case 'flow':
      return { kind: type, flow: { text, title, flow_id: form.flowId.trim() } }
    default:
      return type satisfies never
  }
}
