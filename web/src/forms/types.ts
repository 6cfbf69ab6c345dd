import type { paths } from '../api/schema.ts'

type List = paths['/api/team/v1/workspaces/{workspaceId}/forms']['get']['responses'][200]
type One = paths['/api/team/v1/workspaces/{workspaceId}/forms/{formId}']['get']['responses'][200]

export type Form = One['content']['application/json']['form']
/** With how often it was sent. */
export type ListedForm = List['content']['application/json']['forms'][number]
export type FormField = Form['fields'][number]
export type FieldType = FormField['type']
/** What the team decides about a form. */
export type FormSettings = Omit<Form, 'id' | 'url' | 'embedHtml' | 'createdAt' | 'updatedAt'>
