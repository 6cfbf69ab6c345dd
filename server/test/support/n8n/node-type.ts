/** The part of n8n's types that the tests use. */
export interface Property {
  displayName: string
  name: string
  type: string
  default: unknown
  required?: boolean
  displayOptions?: { show?: Record<string, unknown[]> }
  options?: { name: string; value?: unknown }[]
  typeOptions?: { loadOptionsMethod?: string }
}

type Method<Answer> = (this: object) => Promise<Answer>

export interface Item {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into items of every shape
  json: any
  pairedItem?: { item: number }
}

export interface NodeType {
  description: {
    name: string
    icon: { light: string; dark: string }
    properties: Property[]
    credentials: { name: string }[]
    usableAsTool?: boolean
  }
  execute?: Method<Item[][]>
  trigger?: Method<{ closeFunction(): Promise<void>; manualTriggerFunction?(): Promise<void> }>
  webhook?: Method<{ workflowData?: Item[][]; noWebhookResponse?: boolean }>
  methods?: { loadOptions: Record<string, Method<{ name: string; value: string }[]>> }
  webhookMethods?: { default: Record<'checkExists' | 'create' | 'delete', Method<boolean>> }
}

export interface CredentialType {
  name: string
  properties: Property[]
  authenticate?(credentials: object, request: object): Promise<{ headers: Record<string, string> }>
}
