import { roleValues } from '../api/schema.ts'
import { hasRole, type Role } from '../session/session.ts'

/** Returns the roles that the signed-in person may assign: only owners can assign owner. */
export const rolesFor = (workspaceId: string): Role[] =>
  roleValues.filter((role) => role !== 'owner' || hasRole(workspaceId, role))
