export type Schema = { [keyword: string]: unknown }

export interface Reference {
  $ref: string
}

export interface Parameter {
  name: string
  in: 'query' | 'path' | 'header' | 'cookie'
  required?: boolean
  description?: string
  style?: string
  explode?: boolean
  schema?: Schema
}

export interface MediaType {
  schema?: Schema
  example?: unknown
}

export interface Answer {
  description: string
  headers?: Record<string, unknown>
  content?: Record<string, MediaType>
}

/** A route as it is registered, everything in its place. */
export interface Operation {
  operationId?: string
  tags?: string[]
  summary?: string
  description?: string
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: Record<string, MediaType> }
  security?: Record<string, string[]>[]
  responses: Record<string, Answer>
  'x-query-patterns'?: Record<string, Schema>
}

/** A route as it is published: what several of them share stands in `components`. */
export interface PublishedOperation extends Omit<Operation, 'parameters' | 'responses'> {
  parameters?: (Parameter | Reference)[]
  responses: Record<string, Answer | Reference>
}

export interface Document<O> {
  openapi: string
  info: { title: string; version: string; description?: string }
  servers?: { url: string; description?: string }[]
  tags?: { name: string; description?: string }[]
  'x-tagGroups'?: { name: string; tags: string[] }[]
  paths: Record<string, Record<string, O>>
  components: Components
}

export interface Components {
  schemas?: Record<string, Schema>
  responses?: Record<string, Answer>
  parameters?: Record<string, Parameter>
  headers?: Record<string, unknown>
  securitySchemes?: object
}

export type RouteDocument = Document<Operation>
export type OpenApiDocument = Document<PublishedOperation>
