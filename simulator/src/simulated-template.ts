export interface TemplateButton {
  type: 'QUICK_REPLY' | 'URL' | 'PHONE_NUMBER' | 'COPY_CODE'
  text: string
  url?: string
  phone_number?: string
  example?: unknown
}

export interface TemplateComponent {
  type: 'HEADER' | 'BODY' | 'FOOTER' | 'BUTTONS'
  format?: 'TEXT' | 'IMAGE' | 'VIDEO' | 'DOCUMENT' | 'LOCATION'
  text?: string
  example?: unknown
  /** Of the body and the footer of a template for authentication. */
  add_security_recommendation?: boolean
  code_expiration_minutes?: number
  buttons?: TemplateButton[]
}

export const templateStatuses = [
  ...(['APPROVED', 'PENDING', 'REJECTED', 'PAUSED', 'DISABLED'] as const),
  ...(['IN_APPEAL', 'PENDING_DELETION', 'LIMIT_EXCEEDED', 'ARCHIVED'] as const),
] as const
type TemplateStatus = (typeof templateStatuses)[number]
export const templateQualities = ['GREEN', 'YELLOW', 'RED', 'UNKNOWN'] as const
export const templateCategories = ['MARKETING', 'UTILITY', 'AUTHENTICATION'] as const

/** A template as the platform lists it. */
export interface SimulatedTemplate {
  id: string
  name: string
  language: string
  status: TemplateStatus
  category: (typeof templateCategories)[number]
  parameter_format: 'POSITIONAL' | 'NAMED'
  components: TemplateComponent[]
  rejected_reason?: string
  quality_score?: { score: (typeof templateQualities)[number] }
}

const placeholder = /\{\{\s*([a-z0-9_]+)\s*\}\}/gi

/** Returns distinct placeholders in order of first appearance. */
export function placeholdersOf(text: string): string[] {
  return [...new Set([...text.matchAll(placeholder)].map(([, name = '']) => name))]
}

export function fillPlaceholders(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(placeholder, (whole, name: string) => values.get(name) ?? whole)
}

export const componentOf = (
  template: SimulatedTemplate,
  type: TemplateComponent['type'],
): TemplateComponent | undefined => template.components.find((component) => component.type === type)
