import type { paths } from '../api/schema.ts'

type Answer = paths['/api/team/v1/workspaces/{workspaceId}/forms']['get']['responses'][200]

export type Form = Answer['content']['application/json']['forms'][number]
export type FormField = Form['fields'][number]
export type FieldType = FormField['type']
/** What the team decides about a form. */
export type FormSettings = Omit<Form, 'id' | 'url' | 'embedHtml' | 'submissions' | 'createdAt' | 'updatedAt'>
