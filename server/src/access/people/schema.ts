import { nullable, timestamp, titled } from '../../base/route.ts'
import { emailSchema, idSchema, personNameSchema, roleSchema } from '../../team/team-schema.ts'
import { madeBySchema } from '../credentials/token-schema.ts'
import type { WorkspaceMember } from '../users/members.ts'
import type { Invitation } from './invitations.ts'

export const memberSchema = titled('Member', {
  userId: idSchema('The user.'),
  name: personNameSchema,
  email: emailSchema,
  role: roleSchema,
  joinedAt: timestamp('When the user joined the workspace.'),
  awaySince: nullable(timestamp('Since when they are away, as they say themselves; null: here.')),
})

export const invitationSchema = titled('Invitation', {
  id: idSchema('The invitation.'),
  email: emailSchema,
  role: roleSchema,
  createdBy: madeBySchema,
  createdAt: timestamp('When it was made.'),
  expiresAt: timestamp('Until when its link works.'),
})

export function presentMember(member: WorkspaceMember) {
  const { joinedAt, awaySince } = member
  return { ...member, joinedAt: joinedAt.toISOString(), awaySince: awaySince?.toISOString() ?? null }
}

export function presentInvitation({ id, email, role, createdBy, createdAt, expiresAt }: Invitation) {
  return { id, email, role, createdBy, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() }
}
