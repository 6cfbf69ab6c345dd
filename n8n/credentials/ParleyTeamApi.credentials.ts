import type { ICredentialType } from 'n8n-workflow'

export class ParleyTeamApi implements ICredentialType {
  name = 'parleyTeamApi'
  displayName = 'Parley Team API'
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
      displayName: 'Team Token',
      name: 'teamToken',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      placeholder: 'plt_…',
      required: true,
      description: 'Team token of the workspace with the role admin: only admins can register webhooks',
    },
  ]
  // A function, because n8n does not resolve expressions for polling triggers.
  authenticate: ICredentialType['authenticate'] = async ({ teamToken }, request) => ({
    ...request,
    headers: { ...request.headers, authorization: `Bearer ${teamToken}` },
  })
  test = { request: { baseURL: '={{$credentials.baseUrl}}', url: '/api/team/v1/workspaces' } }
}
