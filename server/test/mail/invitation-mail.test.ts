import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signedInMember } from '../support/member.ts'
import { world } from '../support/world.ts'
import { linkIn, mailWorld, smtpError } from './mail-world.ts'

const mailing = await mailWorld()
const { app, clock, db, server, sendDue } = mailing

async function team() {
  const w = { ...(await world()), app }
  const admin = await signedInMember(w, 'admin')
  const invite = async (email: string) => {
    const answer = await admin.call('POST', '/invitations', { email, role: 'member' })
    assert.equal(answer.status, 201)
    return answer.body
  }
  const list = async () => (await admin.call('GET', '/invitations')).body.invitations
  return { w, admin, invite, list }
}

test('an invitation is mailed with the link that the admin sees too', async () => {
  const { invite, list } = await team()
  const { url, invitation } = await invite('bo@example.com')
  assert.equal(invitation.mail.status, 'waiting')
  await sendDue()
  const [mail, ...more] = server.take()
  assert.equal(more.length, 0)
  assert.equal(mail?.subject, 'Invitation to Test on Parley')
  assert.match(mail?.text ?? '', /Ana Lima invites you/)
  assert.equal(linkIn(mail), url)
  assert.match(JSON.stringify(mail?.to), /bo@example\.com/)
  const [listed] = await list()
  assert.deepEqual([listed.mail.status, listed.mail.answer.slice(0, 3)], ['sent', '250'])
})

test('an invitation is in the language of who invites', async () => {
  const { admin, invite } = await team()
  await db.sql`update users set language = 'pt' where id = ${admin.userId}`
  await invite('bea@example.com')
  await sendDue()
  assert.equal(server.take()[0]?.subject, 'Convite para Test no Parley')
})

test('admins see that an address does not exist, in the words of its server', async () => {
  const { w, admin, invite, list } = await team()
  await invite('typo@example.com')
  server.control.respond = async (step) => (step === 'recipient' ? smtpError(550, 'User unknown') : null)
  await sendDue()
  server.control.respond = async () => null
  const [{ mail }] = await list()
  assert.deepEqual([mail.status, mail.answer], ['refused', '550 User unknown'])

  const bea = await signedInMember(w)
  await db.sql`
    insert into mails (id, kind, cause, user_id, priority, status, created_at, expires_at, finished_at)
    values (gen_random_uuid(), 'reset', 'test:bea', ${bea.userId}, 0, 'refused', ${clock.now()}, ${clock.now()}, ${clock.now()})`
  const failedOf = async (reader: typeof admin) => {
    const { members } = (await reader.call('GET', '/members')).body
    return members.find(({ userId }: { userId: string }) => userId === bea.userId).failedMail?.status ?? null
  }
  assert.deepEqual([await failedOf(admin), await failedOf(bea)], ['refused', null])
})

test('an invitation is mailed again with the same link, after its mail has ended and not at once', async () => {
  const { w, admin, invite, list } = await team()
  const { url, invitation } = await invite('typo-fixed@example.com')
  const again = () => admin.call('POST', `/invitations/${invitation.id}/mail`)
  assert.equal((await again()).status, 409, 'the first one waits')
  server.control.respond = async (step) => (step === 'recipient' ? smtpError(550, 'User unknown') : null)
  await sendDue()
  server.control.respond = async () => null
  assert.equal((await again()).status, 200)
  await sendDue()
  const [mail, ...more] = server.take()
  assert.deepEqual([linkIn(mail), more.length, (await list())[0].mail.status], [url, 0, 'sent'])
  assert.equal((await again()).status, 409, 'just sent')
  clock.advance(6 * 60_000)
  assert.equal((await again()).status, 200)
  await sendDue()
  assert.equal(linkIn(server.take()[0]), url)
  const member = await signedInMember(w)
  assert.equal((await member.call('POST', `/invitations/${invitation.id}/mail`)).status, 403)
  const [row] = await db.sql<{ count: number }[]>`
    select count(*)::integer as count
    from audit_log
    where scope_id = ${w.workspaceId} and action = 'invitation.mailed'`
  assert.equal(row?.count, 2)
})

test('the mail of a withdrawn invitation is not sent', async () => {
  const { admin, invite } = await team()
  const { invitation } = await invite('gone@example.com')
  assert.equal((await admin.call('DELETE', `/invitations/${invitation.id}`)).status, 200)
  await sendDue()
  assert.deepEqual(server.take(), [])
})

test('without a mail server an invitation has a link and no mail', async () => {
  const w = await world()
  const admin = await signedInMember(w, 'admin')
  const { body } = await admin.call('POST', '/invitations', { email: 'bo@example.com', role: 'member' })
  assert.equal(body.invitation.mail, null)
  assert.ok(body.url.includes('/invite/'))
  await sendDue()
  assert.deepEqual(server.take(), [])
})
