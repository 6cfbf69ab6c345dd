import { EventEmitter } from 'node:events'
import type { LoadedNodes } from './loaded-nodes.ts'
import type { Item, NodeType, Property } from './node-type.ts'

export interface NodeInput {
  /** Values that a user filled in; an array has one object per item. */
  parameters?: Record<string, unknown> | Record<string, unknown>[]
  /** Binary fields of every item. */
  binary?: Record<string, { mimeType: string; fileName?: string; bytes: Buffer }>
  credentials: Record<string, Record<string, string>>
  /** Static data that n8n stores with the workflow. */
  stored?: Record<string, unknown>
  executionId?: string
  continueOnFail?: boolean
  mode?: 'trigger' | 'manual'
  webhookUrl?: string
  /** Collects the requests of the node. */
  asked?: string[]
  timezone?: string
  emit?(items: Item[][]): void
  emitError?(error: Error): void
  webhook?: { headers: object; text: string; answer: WebhookAnswer }
}

/** Answer of n8n to the caller of the webhook. */
export class WebhookAnswer extends EventEmitter {
  statusCode = 200
  writableFinished = false

  status(code: number): { json(body: object): void } {
    this.statusCode = code
    return { json: () => {} }
  }

  end(code?: number): void {
    this.statusCode = code ?? this.statusCode
    this.writableFinished = true
    this.emit('close')
  }
}

/** Returns the execution context of a node: it calls the real service, as n8n would. */
export function createNodeContext(loaded: LoadedNodes, node: NodeType, given: NodeInput): object {
  const all = Array.isArray(given.parameters) ? given.parameters : [given.parameters ?? {}]
  const { stored = {}, mode = 'trigger', webhook } = given
  const binaryIn = (_itemIndex: number, field: string) => {
    const found = given.binary?.[field]
    if (found === undefined) throw new Error(`The item has no binary field ${field}`)
    return found
  }
  const credentialsOf = async (type: string) => {
    const found = given.credentials[type]
    if (found === undefined) throw new Error(`Credential ${type} is missing`)
    return found
  }
  return {
    logger: { warn: () => {} },
    getNode: () => ({ id: 'node-1', name: 'Parley', type: node.description.name }),
    getWorkflow: () => ({ id: 'workflow-1', name: 'Refunds' }),
    getTimezone: () => given.timezone ?? 'UTC',
    getExecutionId: () => given.executionId ?? '1',
    getWorkflowStaticData: () => stored,
    getWorkflowDataProxy: () => ({ $runIndex: 0 }),
    getInputData: () => all.map(() => ({ json: {} })),
    getMode: () => mode,
    getActivationMode: () => (mode === 'manual' ? 'manual' : 'activate'),
    getNodeWebhookUrl: () => given.webhookUrl,
    continueOnFail: () => given.continueOnFail ?? false,
    getCredentials: credentialsOf,
    getNodeParameter: (name: string, itemIndex: unknown) =>
      parameter(node.description.properties, all[typeof itemIndex === 'number' ? itemIndex : 0] ?? {}, name),
    emit: given.emit,
    emitError: given.emitError,
    getHeaderData: () => webhook?.headers,
    getRequestObject: () => ({ rawBody: Buffer.from(webhook?.text ?? ''), readRawBody: async () => {} }),
    getResponseObject: () => webhook?.answer,
    helpers: {
      assertBinaryData: binaryIn,
      getBinaryDataBuffer: async (itemIndex: number, field: string) => binaryIn(itemIndex, field).bytes,
      httpRequestWithAuthentication: async (type: string, options: HttpOptions) => {
        const authenticate = loaded.credentials.get(type)?.authenticate
        if (authenticate === undefined) throw new Error(`Credential ${type} has no authentication`)
        const { headers } = await authenticate(await credentialsOf(type), options)
        given.asked?.push(`${options.method} ${new URL(options.url).pathname}`)
        return send({ ...options, headers })
      },
    },
  }
}

/** Returns a parameter as n8n does: the filled-in value, else the default if visible; hidden ones have no value. */
function parameter(properties: Property[], filled: Record<string, unknown>, name: string): unknown {
  const [found, ...others] = properties.filter((one) => one.name === name && isShown(properties, one, filled))
  if (found === undefined || others.length > 0) throw new Error(`The node shows ${name} ${others.length} extra times`)
  return filled[name] ?? found.default
}

function isShown(properties: Property[], { displayOptions }: Property, filled: Record<string, unknown>): boolean {
  return Object.entries(displayOptions?.show ?? {}).every(([name, values]) =>
    values.includes(filled[name] ?? properties.find((one) => one.name === name)?.default),
  )
}

interface HttpOptions {
  method: string
  url: string
  headers: Record<string, string>
  qs?: Record<string, unknown>
  body?: object | Uint8Array<ArrayBuffer>
  abortSignal?: AbortSignal
}

async function send({ method, url, headers, qs = {}, body, abortSignal }: HttpOptions) {
  const asked = new URL(url)
  for (const [name, value] of Object.entries(qs)) asked.searchParams.set(name, String(value))
  const isBytes = body instanceof Uint8Array
  const response = await fetch(asked, {
    method,
    headers: { ...(body !== undefined && !isBytes && { 'content-type': 'application/json' }), ...headers },
    redirect: 'manual',
    ...(body !== undefined && { body: isBytes ? body : JSON.stringify(body) }),
    ...(abortSignal !== undefined && { signal: abortSignal }),
  })
  const text = await response.text()
  // As n8n does: parses application/json, but not problem details.
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: isJson ? JSON.parse(text) : text,
  }
}
