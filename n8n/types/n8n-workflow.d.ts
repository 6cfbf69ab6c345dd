/**
 * The part of n8n's type declarations that these nodes use: the whole package would be a devDependency of 60 MB. See
 * "Develop" in the README for a check against the original.
 */
declare module 'n8n-workflow' {
  export type GenericValue = string | object | number | boolean | undefined | null
  export interface IDataObject {
    [key: string]: GenericValue | IDataObject | GenericValue[] | IDataObject[]
  }
  export type JsonObject = { [key: string]: unknown }

  export interface INode {
    id: string
    name: string
    type: string
  }

  export interface INodeExecutionData {
    json: IDataObject
    pairedItem?: { item: number }
  }

  export interface INodePropertyOptions {
    name: string
    value: string | number | boolean
    action?: string
    description?: string
  }

  export interface INodePropertyCollection {
    displayName: string
    name: string
    values: INodeProperties[]
  }

  export interface INodeProperties {
    displayName: string
    name: string
    type:
      | 'string'
      | 'number'
      | 'boolean'
      | 'options'
      | 'multiOptions'
      | 'collection'
      | 'fixedCollection'
      | 'dateTime'
      | 'notice'
    default: string | number | boolean | string[] | IDataObject | undefined
    description?: string
    hint?: string
    placeholder?: string
    required?: boolean
    noDataExpression?: boolean
    typeOptions?: {
      loadOptionsMethod?: string
      multipleValues?: boolean
      password?: boolean
      rows?: number
      minValue?: number
      maxValue?: number
      maxAllowedFields?: number
    }
    displayOptions?: { show?: { [name: string]: (string | boolean)[] } }
    options?: (INodePropertyOptions | INodeProperties | INodePropertyCollection)[]
  }

  export type Icon = `file:${string}.svg` | { light: `file:${string}.svg`; dark: `file:${string}.svg` }

  export interface ICredentialType {
    name: string
    displayName: string
    icon?: Icon
    documentationUrl?: string
    properties: INodeProperties[]
    authenticate?: (
      credentials: { [name: string]: GenericValue },
      request: IHttpRequestOptions,
    ) => Promise<IHttpRequestOptions>
    test?: { request: { baseURL: string; url: string } }
  }

  export type NodeConnectionType = 'main'
  export const NodeConnectionTypes: { readonly Main: 'main' }

  export interface INodeTypeDescription {
    displayName: string
    name: string
    icon: Icon
    group: ('transform' | 'trigger')[]
    version: number
    subtitle?: string
    description: string
    eventTriggerDescription?: string
    activationMessage?: string
    usableAsTool?: true
    defaults: { name: string }
    inputs: NodeConnectionType[]
    outputs: NodeConnectionType[]
    credentials: {
      name: string
      required?: boolean
      testedBy?: string
      displayOptions?: INodeProperties['displayOptions']
    }[]
    webhooks?: { name: 'default'; httpMethod: 'POST'; responseMode: 'onReceived'; path: string }[]
    properties: INodeProperties[]
  }

  export interface IHttpRequestOptions {
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
    url: string
    headers?: IDataObject
    qs?: IDataObject
    body?: IDataObject | Uint8Array
    json?: boolean
    returnFullResponse?: boolean
    ignoreHttpStatusErrors?: boolean
    disableFollowRedirect?: boolean
    timeout?: number
    abortSignal?: AbortSignal
  }

  interface FunctionsBase {
    logger: { warn(message: string): void }
    getNode(): INode
    getWorkflow(): { id?: string; name?: string }
    getCredentials<Fields extends object>(type: string): Promise<Fields>
    getTimezone(): string
    getExecutionId(): string
    getWorkflowStaticData(type: 'node'): IDataObject
    helpers: {
      httpRequestWithAuthentication(this: FunctionsBase, type: string, options: IHttpRequestOptions): Promise<unknown>
    }
  }

  export interface IBinaryData {
    mimeType: string
    fileName?: string
  }

  export interface IExecuteFunctions extends FunctionsBase {
    helpers: FunctionsBase['helpers'] & {
      assertBinaryData(itemIndex: number, parameterData: string): IBinaryData
      getBinaryDataBuffer(itemIndex: number, parameterData: string): Promise<Uint8Array>
    }
    getInputData(): INodeExecutionData[]
    getNodeParameter(name: string, itemIndex: number, fallback?: unknown): GenericValue
    getWorkflowDataProxy(itemIndex: number): { [name: string]: unknown }
    continueOnFail(): boolean
  }

  export type ILoadOptionsFunctions = FunctionsBase

  export interface ITriggerFunctions extends FunctionsBase {
    getMode(): string
    emit(data: INodeExecutionData[][]): void
    emitError(error: Error): void
  }

  export interface ITriggerResponse {
    closeFunction?: () => Promise<void>
    manualTriggerFunction?: () => Promise<void>
  }

  export interface IHookFunctions extends FunctionsBase {
    getActivationMode(): string
    getNodeWebhookUrl(name: 'default'): string | undefined
    getNodeParameter(name: string, fallback?: unknown): GenericValue
  }

  export interface IWebhookFunctions extends FunctionsBase {
    getNodeParameter(name: string, fallback?: unknown): GenericValue
    getHeaderData(): { [name: string]: string | string[] | undefined }
    getRequestObject(): { rawBody: Uint8Array; readRawBody(): Promise<void> }
    getResponseObject(): {
      status(code: number): { json(body: object): unknown }
      once(event: 'close', listener: () => void): unknown
      statusCode: number
      writableFinished: boolean
    }
  }

  export interface IWebhookResponseData {
    workflowData?: INodeExecutionData[][]
    noWebhookResponse?: boolean
  }

  export interface INodeType {
    description: INodeTypeDescription
    execute?(this: IExecuteFunctions): Promise<INodeExecutionData[][]>
    trigger?(this: ITriggerFunctions): Promise<ITriggerResponse>
    webhook?(this: IWebhookFunctions): Promise<IWebhookResponseData>
    methods?: { loadOptions: { [name: string]: (this: ILoadOptionsFunctions) => Promise<INodePropertyOptions[]> } }
    webhookMethods?: {
      default: { [name in 'checkExists' | 'create' | 'delete']: (this: IHookFunctions) => Promise<boolean> }
    }
  }

  interface ErrorOptions {
    message?: string
    description?: string
    httpCode?: string
    itemIndex?: number
  }

  class NodeError extends Error {
    description: string | null | undefined
    context: IDataObject
  }
  export class NodeApiError extends NodeError {
    constructor(node: INode, error: JsonObject, options?: ErrorOptions)
    httpCode: string | null
  }
  export class NodeOperationError extends NodeError {
    constructor(node: INode, error: Error | string, options?: ErrorOptions)
  }

  export function sleep(ms: number): Promise<void>
}
