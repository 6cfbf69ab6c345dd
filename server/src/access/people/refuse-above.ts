import { forbidden } from '../../base/errors.ts'
import { type Member, type Role, roleCovers } from '../../team/member.ts'

/** Nobody hands out, or takes away, more than they have. */
export function refuseAbove(by: Pick<Member, 'role'>, role: Role): void {
  if (!roleCovers(by.role, role)) throw forbidden(`Only an ${role} may do this`)
}
