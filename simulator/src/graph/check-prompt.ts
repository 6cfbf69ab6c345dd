import type { Prompt } from '../world.ts'
import { type Body, GraphError, invalidParameter, isObject, missingParameter } from './graph-error.ts'

const longest = { title: 20, url: 2000, token: 200, id: 64 } as const

/** Interactive messages with one button, by their type on the platform. */
const checks: Readonly<Record<string, (action: Body) => Prompt>> = {
  cta_url: checkLink,
  location_request_message: (action) => checkBare(action, 'location_request', 'send_location', 'Send location'),
  request_contact_info: (action) =>
    checkBare(action, 'contact_request', 'request_contact_info', 'Share my phone number'),
  address_message: checkAddress,
  flow: checkFlow,
}

/** Returns the button of a message with one; null for another type. Throws the platform's error if it is invalid. */
export function checkPrompt(type: string, action: Body): Prompt | null {
  const check = Object.hasOwn(checks, type) ? checks[type] : undefined
  return check?.(action) ?? null
}

/** Types without a footer. */
export const hasNoFooter = (type: string): boolean =>
  type === 'location_request_message' || type === 'request_contact_info'

function checkLink(action: Body): Prompt {
  const parameters = parametersOf(action, 'cta_url')
  const title = requireText(parameters.display_text, 'display_text', longest.title)
  const url = requireText(parameters.url, 'url', longest.url)
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) throw invalidParameter('Param url is not a valid URI.')
  return { type: 'link', title, url }
}

// The phone labels these buttons itself.
function checkBare(action: Body, type: 'location_request' | 'contact_request', name: string, title: string): Prompt {
  requireName(action, name)
  return { type, title }
}

/** The country is mandatory, and there is only one. */
function checkAddress(action: Body): Prompt {
  const { country } = parametersOf(action, 'address_message')
  if (country !== 'IN') throw invalidParameter('Param country must be one of {IN}')
  return { type: 'address_request', title: 'Provide address' }
}

function checkFlow(action: Body): Prompt {
  const parameters = parametersOf(action, 'flow')
  if (parameters.flow_message_version !== '3') throw invalidParameter('Param flow_message_version must be one of {3}')
  const id = requireText(parameters.flow_id, 'flow_id', longest.id)
  if (!/^\d+$/.test(id)) throw invalidParameter('Param flow_id is not a valid id.')
  const title = requireText(parameters.flow_cta, 'flow_cta', longest.title)
  const token = requireText(parameters.flow_token, 'flow_token', longest.token)
  const { flow_action: act, flow_action_payload: payload } = parameters
  if (act === 'navigate' && !(isObject(payload) && typeof payload.screen === 'string'))
    throw missingParameter('Parameter flow_action_payload.screen is required.')
  return { type: 'flow', title, token }
}

function parametersOf(action: Body, name: string): Body {
  requireName(action, name)
  if (!isObject(action.parameters)) throw missingParameter('Parameter interactive.action.parameters is required.')
  return action.parameters
}

function requireName(action: Body, name: string): void {
  if (action.name !== name) throw invalidParameter(`Param interactive.action.name must be one of {${name}}`)
}

function requireText(value: unknown, what: string, maxLength: number): string {
  const at = `interactive.action.parameters.${what}`
  if (typeof value !== 'string' || value === '') throw missingParameter(`Parameter ${at} is required.`)
  if (value.trim() !== '' && value.length <= maxLength) return value
  throw new GraphError(131009, { details: `Parameter ${at} must have 1 to ${maxLength} characters.` })
}
