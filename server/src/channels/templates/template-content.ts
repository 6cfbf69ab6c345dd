import { type Static, Type } from 'typebox'
import { nullable, oneOf, titled } from '../../base/route.ts'
import { text } from '../../base/schema-types.ts'
import { closed } from '../../team/team-schema.ts'
import { type TemplateHeader, templateHeaders } from './templates.ts'

export const templateCategories = ['MARKETING', 'UTILITY', 'AUTHENTICATION'] as const
export const parameterFormats = ['positional', 'named'] as const
export const headerTypes = ['none', 'text', 'image', 'video', 'document', 'location'] as const
/** How the code of a template for authentication reaches the app of the customer. */
export const otpTypes = ['copy_code', 'one_tap', 'zero_tap'] as const
export const buttonTypes = ['quick_reply', 'url', 'phone', 'copy_code'] as const

export const isFileHeader = (type: string): type is TemplateHeader => templateHeaders.some((known) => known === type)

/** Limits of a draft, larger than those of the platform, so that a text that is too long is kept while it is cut. */
const draftLimits = { name: 600, header: 300, body: 4096, footer: 300, button: 100, value: 2100, sample: 500 }
const maxButtons = 20
const maxSamples = 50

const draftText = (maxLength: number, description: string, example: string) => text(maxLength, description, { example })

const Header = titled('TemplateContentHeader', {
  type: oneOf(headerTypes, { description: 'What is above the text. Files are uploaded separately.' }),
  text: draftText(draftLimits.header, 'For `text`: may have one variable.', 'Order {{1}}'),
  sample: draftText(draftLimits.sample, 'Sample value of its variable.', 'A-17'),
})

const Button = titled('TemplateContentButton', {
  type: oneOf(buttonTypes, { description: 'What the button does.' }),
  text: draftText(draftLimits.button, 'Its label; the platform writes that of `copy_code`.', 'Track order'),
  value: draftText(
    draftLimits.value,
    'URL, which may end with `{{1}}`, or phone number, or sample code.',
    'https://shop.example/{{1}}',
  ),
  sample: draftText(draftLimits.sample, 'Sample value of the variable of a URL.', 'A-17'),
})

const Otp = titled('TemplateContentOtp', {
  type: oneOf(otpTypes, {
    description:
      '`copy_code`: a button copies the code. `one_tap`: a button fills it in an Android app. `zero_tap`: an Android app receives it without a button.',
  }),
  hasSecurityNote: Type.Boolean({ description: 'Adds that the code should not be shared.' }),
  expiresInMinutes: nullable(
    Type.Integer({ minimum: 0, maximum: 10_000, description: 'Adds how long the code is valid; null without.' }),
  ),
  buttonText: draftText(
    draftLimits.button,
    'Label of the button that copies; empty: that of the platform.',
    'Copy code',
  ),
  autofillText: draftText(draftLimits.button, 'Label of the button that fills in; empty: as above.', 'Autofill'),
  apps: Type.Array(
    Type.Object(
      {
        packageName: draftText(300, 'Name of the Android package.', 'com.example.shop'),
        signatureHash: draftText(100, "Hash of the app's signing key.", 'K8a/AINcGX7'),
      },
      closed,
    ),
    { maxItems: 10, description: 'Apps that may receive the code; not for `copy_code`.' },
  ),
  acceptsTerms: Type.Boolean({
    description:
      'For `zero_tap`: you accept the terms of the platform for it, and customers expect the code to be filled in.',
  }),
})

export const contentSchema = titled('TemplateContent', {
  name: draftText(draftLimits.name, 'Name on the platform; unique with the language.', 'order_update'),
  language: draftText(20, 'Language code of the platform.', 'pt_BR'),
  category: oneOf(templateCategories, {
    description:
      'The platform can change it. It writes the text of `AUTHENTICATION` itself: of such a template only `otp` counts.',
  }),
  format: oneOf(parameterFormats, { description: '`positional`: `{{1}}`; `named`: `{{first_name}}`.' }),
  header: Header,
  body: draftText(draftLimits.body, 'Text with variables.', 'Hi {{1}}, order {{2}} ships today.'),
  samples: Type.Array(
    Type.Object(
      {
        name: draftText(100, 'The variable.', '1'),
        value: draftText(draftLimits.sample, 'Its sample value.', 'Ana'),
      },
      closed,
    ),
    { maxItems: maxSamples, description: 'Sample values of the variables of the body.' },
  ),
  footer: draftText(draftLimits.footer, 'Small text below the body.', 'Shop Ltd.'),
  buttons: Type.Array(Button, { maxItems: maxButtons, description: 'In the order in which they are shown.' }),
  otp: Type.Optional(Otp),
})
export type TemplateContent = Static<typeof contentSchema>
export type TemplateOtp = Static<typeof Otp>
export type TemplateButton = TemplateContent['buttons'][number]

/** Returns the names of the variables in a text, each once, in order of appearance. */
export function variablesOf(value: string): string[] {
  return [...new Set([...value.matchAll(/\{\{([^{}]*)\}\}/g)].map(([, name = '']) => name.trim()))]
}

export const emptyContent: TemplateContent = {
  name: '',
  language: 'en_US',
  category: 'UTILITY',
  format: 'positional',
  header: { type: 'none', text: '', sample: '' },
  body: '',
  samples: [],
  footer: '',
  buttons: [],
}

export const emptyOtp: TemplateOtp = {
  type: 'copy_code',
  hasSecurityNote: true,
  expiresInMinutes: 10,
  buttonText: '',
  autofillText: '',
  apps: [],
  acceptsTerms: false,
}
