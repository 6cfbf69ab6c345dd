import type { TemplateBody } from './template-body.ts'

/** A template as the platform has it, in our shape. */
export interface PlatformTemplate extends TemplateBody {
  name: string
  language: string
  category: string
  /** In upper case; only `APPROVED` ones are sent. */
  status: string
  /** False when sending needs more than body parameters: a media header, a button's variable, a code. */
  bodyOnly: boolean
  /** The file that its header needs, where sending needs that and body parameters, and nothing else. */
  header: TemplateHeader | null
}

export const templateHeaders = ['image', 'video', 'document'] as const
export type TemplateHeader = (typeof templateHeaders)[number]

export interface Template extends PlatformTemplate {
  id: string
  connectionId: string
}
