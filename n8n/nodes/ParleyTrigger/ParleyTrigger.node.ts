import {
  type IHookFunctions,
  type INodeType,
  type INodeTypeDescription,
  type IWebhookFunctions,
  type IWebhookResponseData,
  NodeConnectionTypes,
} from 'n8n-workflow'
import { verifyWebhook, type WebhookEvent, WebhookVerificationError } from '../../../client/src/webhooks.ts'
import { deregister, getWorkspaces, isRegistered, type Registration, register } from './registration.ts'
import { isDuplicate } from './repeated-events.ts'
import { triggerProperties } from './trigger-properties.ts'

/** Starts a workflow with each event of Parley; registers its own webhook and deletes it again. */
export class ParleyTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Parley Trigger',
    name: 'parleyTrigger',
    icon: { light: 'file:../Parley/parley.svg', dark: 'file:../Parley/parley.dark.svg' },
    group: ['trigger'],
    version: 1,
    subtitle: '={{ $parameter["events"].join(", ") }}',
    description: 'Starts the workflow when customers write, conversations change hands, or leads change',
    eventTriggerDescription: 'Waiting for an event from Parley',
    activationMessage: 'Parley sends new events to this workflow.',
    defaults: { name: 'Parley Trigger' },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [
      { name: 'parleyTeamApi', required: true, displayOptions: { show: { registration: ['byItself'] } } },
      {
        name: 'parleyWebhookSecretApi',
        required: true,
        testedBy: 'isSigningSecret',
        displayOptions: { show: { registration: ['byHand'] } },
      },
    ],
    webhooks: [{ name: 'default', httpMethod: 'POST', responseMode: 'onReceived', path: 'webhook' }],
    properties: triggerProperties,
  }

  methods = { loadOptions: { getWorkspaces }, credentialTest: { isSigningSecret } }

  webhookMethods = {
    default: {
      async checkExists(this: IHookFunctions): Promise<boolean> {
        return isByHand(this) || isRegistered(this)
      },
      async create(this: IHookFunctions): Promise<boolean> {
        await register(this)
        return true
      },
      async delete(this: IHookFunctions): Promise<boolean> {
        if (!isByHand(this)) await deregister(this)
        return true
      },
    },
  }

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    const event = await readEvent(this).catch(refusalOf)
    if (event instanceof WebhookVerificationError) {
      this.getResponseObject().status(401).json({ message: event.message })
      return { noWebhookResponse: true }
    }
    if (isDuplicate(this, event.id)) return {}
    return { workflowData: [[{ json: event }]] }
  }
}

const isByHand = (context: IHookFunctions | IWebhookFunctions): boolean =>
  context.getNodeParameter('registration') === 'byHand'

async function readEvent(context: IWebhookFunctions): Promise<WebhookEvent> {
  const request = context.getRequestObject()
  // Verifies the raw bytes: parsed and re-serialized JSON has another signature.
  await request.readRawBody()
  return verifyWebhook({
    headers: context.getHeaderData(),
    body: request.rawBody,
    secret: await secretOf(context),
  })
}

function refusalOf(error: unknown): WebhookVerificationError {
  if (error instanceof WebhookVerificationError) return error
  throw error
}

/** Returns no secret while no webhook is registered: no request is valid then. */
async function secretOf(context: IWebhookFunctions): Promise<string[]> {
  if (isByHand(context)) {
    const { secret } = await context.getCredentials<{ secret: string }>('parleyWebhookSecretApi')
    return [secret.trim()]
  }
  const { secret } = context.getWorkflowStaticData('node') as Partial<Registration>
  return secret === undefined ? [] : [secret]
}

/** Checks the format only: no request can test a secret. */
async function isSigningSecret({ data = {} }: { data?: { secret?: unknown } }) {
  const isValid = /^whsec_[A-Za-z0-9+/]{20,100}={0,2}$/.test(String(data.secret).trim())
  if (isValid)
    return {
      status: 'OK',
      message: 'The format is valid. The first webhook shows whether it is the right secret.',
    } as const
  return { status: 'Error', message: 'A signing secret starts with whsec_. Copy all of it.' } as const
}
