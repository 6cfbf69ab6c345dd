import { mayIn, type Role } from '../session/session.ts'

/** The roles that the signed-in person may hand out: only owners make owners. */
export const rolesFor = (workspaceId: string): Role[] =>
  mayIn(workspaceId, 'owner') ? ['member', 'admin', 'owner'] : ['member', 'admin']
