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
}

export interface Template extends PlatformTemplate {
  id: string
  connectionId: string
}
