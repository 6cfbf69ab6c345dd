import { roleValues } from '../api/schema.ts'
import { hasRole, type Role } from '../session/session.ts'

/** The roles that the signed-in person may hand out: only owners make owners. */
export const rolesFor = (workspaceId: string): Role[] =>
  roleValues.filter((role) => role !== 'owner' || hasRole(workspaceId, role))
