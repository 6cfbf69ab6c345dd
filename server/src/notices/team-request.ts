import { Type } from 'typebox'
import type { Clock } from '../base/clock.ts'
import type { Db } from '../base/db.ts'
import { forbidden } from '../base/errors.ts'
import type { Outgoing } from '../base/outgoing/guarded-fetch.ts'
import type { Vault } from '../base/sealing/vault.ts'
import type { Member } from '../team/member.ts'
import { teamRoute, workspaceParams } from '../team/team-schema.ts'
import type { NameThings } from './push/push.ts'

export interface NoticeDeps {
  db: Db
  vault: Vault
  clock: Clock
  outgoing: Outgoing
  /** What browsers subscribe with. */
  pushKey(): Promise<string>
  nameThings: NameThings
  /** Marks the mentions of a person in these notes read, as their notices are. */
  mentionsRead(workspaceId: string, userId: string, noteIds: readonly string[]): Promise<void>
}

export const noticesPath = '/api/team/v1/workspaces/:workspaceId/notices'
export const noticeParams = Type.Object(workspaceParams)
export const noticeRoute = teamRoute('Notices')

export function personOf({ userId }: Member): string {
  if (userId === null) throw forbidden('A token is nobody who could be told of anything. Sign in as a member.')
  return userId
}
