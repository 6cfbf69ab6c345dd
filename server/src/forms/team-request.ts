/** What the team's routes of this room share. */
const security: Record<string, string[]>[] = [{ session: [] }, { teamToken: [] }]
export const about = { tags: ['Forms'], security }
export const always = [400, 401, 403, 404, 429, 500, 503] as const
export const formsPath = '/api/team/v1/workspaces/:workspaceId/forms'
