import { instanceScope } from '../../base/encryption/key-store.ts'
import { conflict } from '../../base/errors.ts'
import { forgetEndedMail } from '../../mail/mails.ts'
import { recordAudit } from '../../team/audit.ts'
import type { Member } from '../../team/member.ts'
import type { TeamDeps } from '../users/users.ts'
import { mailCause, mailInvitation, requireInvitation } from './invitations.ts'

/** So that nobody gets a pile of the same mail. */
const pauseMs = 5 * 60_000

/**
 * Mails the link of an open invitation once more, also after the first mail was refused. Throws what `readInvitationLink`
 * throws, and 409 without a mail server, while a mail waits, and right after one was sent.
 */
export async function mailInvitationAgain(deps: TeamDeps, by: Member, invitationId: string): Promise<void> {
  if (deps.mailer == null) throw conflict('Mail is not set up. Copy the link and send it yourself.')
  const [keyring, instanceKeys] = await Promise.all([
    deps.keyStore.keyring(by.workspaceId),
    deps.keyStore.keyring(instanceScope),
  ])
  const now = deps.clock.now()
  await deps.db.tx(async (tx) => {
    const { url, ...invitation } = await requireInvitation(tx, keyring, deps, by, invitationId, now)
    const isOver = await forgetEndedMail(tx, mailCause(invitation.id), new Date(now.getTime() - pauseMs))
    if (!isOver) throw conflict('It is being mailed, or was in the last 5 minutes. Wait before mailing it again.')
    if (!(await mailInvitation(tx, instanceKeys, by, invitation, url, now)))
      throw conflict('A mail is under way, or too many mails of this workspace wait. Try again in a few minutes.')
    const target = `invitation:${invitation.id}`
    await recordAudit(tx, { scopeId: by.workspaceId, actor: by.actor, action: 'invitation.mailed', target }, now)
  })
}
