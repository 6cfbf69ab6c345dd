import { type Static, Type } from 'typebox'
import { oneOf } from '../../base/route.ts'
import { text } from '../../base/schema-types.ts'
import { flowDataLimits, type Prompt, promptLimits, promptTypes } from '../../channels/prompts.ts'
import { strictTitled } from '../api/schema.ts'

/** Messages that ask the customer to do one thing, with one button; for channels with interactive messages. */

const words = (maxLength: number, description: string, example: string) =>
  Type.String({ minLength: 1, maxLength, description, example })

const body = (example: string) => words(promptLimits.text, 'Text above the button.', example)
const title = (example: string) => words(promptLimits.title, 'Text of the button.', example)
const footer = Type.Optional(words(promptLimits.footer, 'Small text below the text.', 'We answer until 18:00.'))

const address = (isRequired: boolean) =>
  Type.String({
    ...(isRequired && { minLength: 8 }),
    maxLength: promptLimits.url,
    description: 'Address that the button opens in the browser: https or http.',
    example: 'https://shop.example/orders/1042',
  })

const flowId = Type.String({
  pattern: '^[0-9]{1,32}$',
  maxLength: promptLimits.flowId,
  description: 'Id of the published form at the platform.',
  example: '1042000000000001',
})

export const promptFields = {
  link: strictTitled('LinkToSend', {
    text: body('You can follow your order here.'),
    title: title('Follow my order'),
    url: address(true),
    footer,
  }),
  location_request: strictTitled('LocationToRequest', { text: body('Where should we deliver it?') }),
  contact_request: strictTitled('ContactToRequest', { text: body('On which number may we call you?') }),
  address_request: strictTitled('AddressToRequest', { text: body('Which address should we deliver it to?') }),
  flow: strictTitled('FlowToSend', {
    text: body('Choose a day and a time.'),
    title: title('Book a visit'),
    flow_id: flowId,
    screen: Type.Optional(
      words(
        promptLimits.screen,
        'Screen that opens; default: the first one, or the one its endpoint chooses.',
        'DATES',
      ),
    ),
    data: Type.Optional(
      Type.Record(
        Type.String({ minLength: 1, maxLength: flowDataLimits.name }),
        Type.String({ maxLength: flowDataLimits.value }),
        {
          minProperties: 1,
          maxProperties: flowDataLimits.entries,
          description: 'Values for that screen; requires `screen`.',
          example: { city: 'Recife' },
        },
      ),
    ),
    footer,
  }),
} as const

export type PromptFields = { [K in keyof typeof promptFields]: Static<(typeof promptFields)[K]> }

/** Returns the prompt of a request's field. */
export function promptOf<K extends keyof PromptFields>(type: K, fields: PromptFields[K]): Prompt
export function promptOf(type: keyof PromptFields, fields: PromptFields[keyof PromptFields]): Prompt {
  const { text: _, ...rest } = fields
  if (!('flow_id' in rest)) return { type, ...rest } as Prompt
  const { flow_id: id, ...flow } = rest
  return { type: 'flow', flowId: id, ...flow }
}

/** A prompt as the timeline shows it. */
export const ShownPrompt = Type.Object(
  {
    type: oneOf(promptTypes, { description: 'What the message asks for.', example: 'link' }),
    title: Type.Optional(text(promptLimits.title, 'Text of the button, of a link or a form.')),
    url: Type.Optional(address(false)),
    flow_id: Type.Optional(text(promptLimits.flowId, 'Id of the form at the platform.')),
    footer: Type.Optional(text(promptLimits.footer, 'Small text below the text.')),
  },
  { title: 'ShownPrompt', description: 'One button below the text, which the platform labels unless it has a title.' },
)
export type ShownPrompt = Static<typeof ShownPrompt>

export function presentPrompt(prompt: Prompt): ShownPrompt {
  if (prompt.type !== 'flow') return prompt
  const { type, title, flowId, footer } = prompt
  return { type, title, flow_id: flowId, ...(footer !== undefined && { footer }) }
}
