import type { ICredentialType } from 'n8n-workflow'

export class ParleyWebhookSecretApi implements ICredentialType {
  name = 'parleyWebhookSecretApi'
  displayName = 'Parley Webhook Secret API'
  icon = { light: 'file:../nodes/Parley/parley.svg', dark: 'file:../nodes/Parley/parley.dark.svg' } as const
  documentationUrl = 'https://www.npmjs.com/package/n8n-nodes-parley'
  properties: ICredentialType['properties'] = [
    {
      displayName: 'Signing Secret',
      name: 'secret',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      placeholder: 'whsec_…',
      required: true,
      description: 'Parley shows it once when an admin adds the webhook under Settings → Webhooks',
    },
  ]
}
