import {
  type IDataObject,
  type IHookFunctions,
  type ILoadOptionsFunctions,
  type INodePropertyOptions,
  NodeApiError,
  NodeOperationError,
} from 'n8n-workflow'
import { type Context, sendRequest } from '../../shared/request.ts'

/** Data of a registered webhook that n8n stores with the workflow. */
export interface Registration {
  workspaceId: string
  endpointId: string
  /** Shown only at its creation. */
  secret: string
}

const webhooksPath = (workspaceId: string): string =>
  `/api/team/v1/workspaces/${encodeURIComponent(workspaceId)}/webhooks`
const webhookPath = ({ workspaceId, endpointId }: Registration): string => `${webhooksPath(workspaceId)}/${endpointId}`

interface Endpoint {
  id: string
  url: string
  events: string[]
  phoneVisibility: string
  state: string
}

interface CreatedWebhook {
  endpoint: Endpoint
  secret: string
}

/** Creates the webhook and stores its ids and secret. */
export async function register(context: IHookFunctions): Promise<void> {
  const workspaceId = await workspaceOf(context)
  const path = webhooksPath(workspaceId)
  const { endpoint, secret } = await sendRequest<CreatedWebhook>(context, 'parleyTeamApi', {
    method: 'POST',
    path,
    body: desiredWebhook(context),
  })
  Object.assign(stored(context), { workspaceId, endpointId: endpoint.id, secret })
}

/** Returns whether the webhook exists with the desired settings; deletes it if they differ. */
export async function isRegistered(context: IHookFunctions): Promise<boolean> {
  const known = registrationOf(context)
  if (known === undefined) return false
  const found = await find(context, known)
  if (found !== undefined && matchesDesired(found, desiredWebhook(context))) return true
  // A test run has its own URL, and must not delete the webhook of the active workflow.
  if (context.getActivationMode() !== 'manual') await deregister(context)
  return false
}

export async function deregister(context: IHookFunctions): Promise<void> {
  const known = registrationOf(context)
  if (known === undefined) return
  await undefinedIfMissing(sendRequest(context, 'parleyTeamApi', { method: 'DELETE', path: webhookPath(known) }))
  const all = stored(context)
  for (const name of ['workspaceId', 'endpointId', 'secret'] satisfies (keyof Registration)[]) delete all[name]
}

export async function getWorkspaces(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
  return (await workspacesOf(this)).map(({ id, name }) => ({ name, value: id }))
}

async function workspacesOf(context: Context): Promise<{ id: string; name: string }[]> {
  const call = { method: 'GET', path: '/api/team/v1/workspaces' } as const
  const { workspaces } = await sendRequest<{ workspaces: { id: string; name: string }[] }>(
    context,
    'parleyTeamApi',
    call,
  )
  return workspaces
}

async function workspaceOf(context: IHookFunctions): Promise<string> {
  const named = context.getNodeParameter('workspaceId', '')
  if (typeof named === 'string' && named !== '') return named
  const [first, ...others] = await workspacesOf(context)
  if (first !== undefined && others.length === 0) return first.id
  throw new NodeOperationError(context.getNode(), 'The workspace is ambiguous', {
    description:
      first === undefined
        ? 'The team token has no workspace.'
        : 'The team token has several workspaces. Choose one in the trigger.',
  })
}

function desiredWebhook(context: IHookFunctions) {
  return {
    url: context.getNodeWebhookUrl('default'),
    events: context.getNodeParameter('events') as string[],
    phoneVisibility: context.getNodeParameter('maskPhones', false) === true ? 'masked' : 'full',
    description: `n8n: ${context.getWorkflow().name ?? ''}`.slice(0, 200),
  }
}

const matchesDesired = (
  found: Endpoint,
  { url, events, phoneVisibility }: ReturnType<typeof desiredWebhook>,
): boolean =>
  found.state === 'active' &&
  found.url === url &&
  found.phoneVisibility === phoneVisibility &&
  found.events.toSorted().join() === events.toSorted().join()

const stored = (context: IHookFunctions): IDataObject => context.getWorkflowStaticData('node')

function registrationOf(context: IHookFunctions): Registration | undefined {
  const known = stored(context) as Partial<Registration>
  const { workspaceId, endpointId, secret } = known
  if (workspaceId === undefined || endpointId === undefined || secret === undefined) return undefined
  return { workspaceId, endpointId, secret }
}

async function find(context: IHookFunctions, known: Registration): Promise<Endpoint | undefined> {
  const request = sendRequest<{ endpoint: Endpoint }>(context, 'parleyTeamApi', {
    method: 'GET',
    path: webhookPath(known),
  })
  return (await undefinedIfMissing(request))?.endpoint
}

async function undefinedIfMissing<Answer>(request: Promise<Answer>): Promise<Answer | undefined> {
  return request.catch((error) => {
    if (error instanceof NodeApiError && error.httpCode === '404') return undefined
    throw error
  })
}
