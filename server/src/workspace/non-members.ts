import type { Sql } from '../base/db.ts'
import { heldBy, holdRows, isSpread, membersOf } from '../base/distribution/spread.ts'

/** Which of these users are not members of the workspace. Those who are stay so until the transaction ends. */
export async function findNonMembers(tx: Sql, workspaceId: string, userIds: readonly string[]): Promise<string[]> {
  if (userIds.length === 0) return []
  if (isSpread(tx)) await holdRows(tx, membersOf(workspaceId))
  const members = await tx<{ user_id: string }[]>`
    select user_id
    from members
    where workspace_id = ${workspaceId}
      and user_id = any (${[...userIds]}::uuid[])
    ${heldBy(tx, tx`for key share`)}`
  const known = new Set(members.map((member) => member.user_id))
  return userIds.filter((id) => !known.has(id))
}
