import { findTextProblem } from './interactive-options.ts'

/**
 * What a message asks the customer to do with one button below its text: open a link, share a location, share their
 * phone number, enter a postal address, or fill in a form of the platform (a flow).
 */
export type Prompt =
  | { type: 'link'; title: string; url: string; footer?: string }
  | { type: 'location_request' }
  | { type: 'contact_request' }
  | { type: 'address_request' }
  | { type: 'flow'; flowId: string; title: string; screen?: string; data?: Record<string, string>; footer?: string }

export type PromptType = Prompt['type']
export const promptTypes = [
  ...(['link', 'location_request', 'contact_request', 'address_request', 'flow'] as const),
] as const satisfies PromptType[]

/** The platform's limits, in UTF-16 units: the strictest interpretation of its "characters". */
export const promptLimits = { text: 1024, title: 20, footer: 60, url: 2000, flowId: 32, screen: 100 } as const

/** The only country in which the platform asks for addresses, for businesses and customers alike. */
const addressCountry = { iso: 'IN', callingCode: '91' } as const

/** Returns whether the platform asks this customer for an address; it decides about a customer who hides the phone. */
export const canAskForAddress = (phone: string | null): boolean =>
  phone === null || phone.startsWith(addressCountry.callingCode)

/** Limits of what a form is opened with, which the platform does not document. */
export const flowDataLimits = { entries: 50, name: 80, value: 2000 } as const

/** Returns an error for a prompt that the platform would reject, starting with the field; null if valid. */
export function findPromptProblem(text: string, prompt: Prompt): string | null {
  const { type } = prompt
  for (const [name, words, longest] of textFields(text, prompt)) {
    const problem = findTextProblem(`${type}.${name}`, words, longest, name !== 'text')
    if (problem !== null) return problem
  }
  if (type === 'link' && !isWebAddress(prompt.url)) {
    return 'link.url must be a full address that starts with https:// or http://'
  }
  if (type === 'flow' && prompt.data !== undefined && prompt.screen === undefined) return 'flow.data requires a screen'
  if (type === 'flow' && /\p{Extended_Pictographic}/u.test(prompt.title)) return 'flow.title must not contain an emoji'
  return null
}

type TextField = [name: string, words: string | undefined, longest: number]

const textFields = (text: string, prompt: Prompt): TextField[] => [
  ['text', text, promptLimits.text],
  ...('title' in prompt
    ? ([
        ['title', prompt.title, promptLimits.title],
        ['footer', prompt.footer, promptLimits.footer],
      ] satisfies TextField[])
    : []),
]

/** Whether a browser opens it as it is written: a web address without spaces, credentials or a bare host name. */
function isWebAddress(address: string): boolean {
  if (address.length > promptLimits.url || /\s/.test(address) || !/^https?:\/\//i.test(address)) return false
  const { hostname = '', username, password } = URL.parse(address) ?? {}
  return hostname.includes('.') && username === '' && password === ''
}

/** Returns the platform's interactive message. `token` comes back with the answers of a form. */
export function promptMessage(text: string, prompt: Prompt, token: string): object {
  const body = { text }
  switch (prompt.type) {
    case 'link': {
      const parameters = { display_text: prompt.title, url: prompt.url }
      return { type: 'cta_url', body, ...footerOf(prompt), action: { name: 'cta_url', parameters } }
    }
    case 'location_request':
      return { type: 'location_request_message', body, action: { name: 'send_location' } }
    case 'contact_request':
      return { type: 'request_contact_info', body, action: { name: 'request_contact_info' } }
    case 'address_request': {
      const parameters = { country: addressCountry.iso }
      return { type: 'address_message', body, action: { name: 'address_message', parameters } }
    }
    case 'flow':
      return { type: 'flow', body, ...footerOf(prompt), action: { name: 'flow', parameters: flowOf(prompt, token) } }
    default:
      return prompt satisfies never
  }
}

const footerOf = ({ footer }: { footer?: string }): object => (footer === undefined ? {} : { footer: { text: footer } })

function flowOf({ flowId, title, screen, data }: Extract<Prompt, { type: 'flow' }>, token: string): object {
  const opens =
    screen === undefined
      ? {}
      : { flow_action: 'navigate', flow_action_payload: { screen, ...(data !== undefined && { data }) } }
  return { flow_message_version: '3', flow_token: token, flow_id: flowId, flow_cta: title, ...opens }
}
