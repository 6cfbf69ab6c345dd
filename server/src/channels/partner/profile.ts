import type { PartnerProfileName } from './settings.ts'

/** How one partner's interface differs from the official one. Paths are below the base URL. */
export interface Profile {
  /** Without a trailing slash. */
  baseUrl: string
  keyHeader: string
  messagesPath: string
  numberPath: string
  webhookPath: string
  templatesPath: string
  mediaPath: string
  /** Where the list of an answer with templates is. */
  templateLists: readonly string[]
  /** Carries the digest of a callback's bytes, where the partner signs them. */
  signatureHeader: string
}

export const profiles: Readonly<Record<PartnerProfileName, Profile>> = {
  '360dialog': {
    baseUrl: 'https://waba-v2.360dialog.io',
    keyHeader: 'd360-api-key',
    messagesPath: '/messages',
    numberPath: '/v1/configs/phone_number',
    webhookPath: '/v1/configs/webhook',
    templatesPath: '/v1/configs/templates',
    mediaPath: '/media',
    templateLists: ['waba_templates', 'data'],
    signatureHeader: 'x-360dialog-signature',
  },
}
