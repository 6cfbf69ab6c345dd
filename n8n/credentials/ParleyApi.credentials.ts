import type { ICredentialType } from 'n8n-workflow'

export class ParleyApi implements ICredentialType {
  name = 'parleyApi'
  displayName = 'Parley API'
  icon = { light: 'file:../nodes/Parley/parley.svg', dark: 'file:../nodes/Parley/parley.dark.svg' } as const
  documentationUrl = 'https://www.npmjs.com/package/n8n-nodes-parley'
  properties: ICredentialType['properties'] = [
    {
      displayName: 'Address',
      name: 'baseUrl',
      type: 'string',
      default: '',
      placeholder: 'https://parley.example.com',
      required: true,
      description: 'Base URL of your Parley server, without a path',
    },
    {
      displayName: 'API Key',
      name: 'apiKey',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      placeholder: 'plk_…',
      required: true,
      description: 'From Settings → API keys. The inbox shows the workflow under its name.',
    },
  ]
  // A function, because n8n does not resolve expressions for polling triggers.
  authenticate: ICredentialType['authenticate'] = async ({ apiKey }, request) => ({
    ...request,
    headers: { ...request.headers, authorization: `Bearer ${apiKey}` },
  })
  test = { request: { baseURL: '={{$credentials.baseUrl}}', url: '/api/v2/me' } }
}
