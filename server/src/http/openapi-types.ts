import type { PostmanHints } from '../base/route.ts'

export type Schema = { [keyword: string]: unknown }

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

export interface Operation {
  operationId?: string
  tags?: string[]
  summary?: string
  description?: string
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: Record<string, MediaType> }
  security?: Record<string, string[]>[]
  responses: Record<string, Answer>
  'x-postman'?: PostmanHints
  'x-query-patterns'?: Record<string, Schema>
}

export interface OpenApiDocument {
  openapi: string
  info: { title: string; version: string; description?: string }
  servers?: { url: string; description?: string }[]
  tags?: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas?: Record<string, Schema>; headers?: Record<string, unknown>; securitySchemes?: object }
}
