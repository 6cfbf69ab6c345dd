import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decorateTeamRequests } from '../../../src/access/credentials/team-guard.ts'
import { createServer } from '../../../src/http/server/server.ts'
import { sendTeamRoutes } from '../../../src/inbox/team-api/team-routes-send.ts'
import { sendWorld, text } from '../../support/inbox/send-world.ts'

test('the team’s route makes the conversation human, asks for a key, and is shut with the inbox', async () => {
  const { node, member, workspaceId, conversation, events } = await sendWorld()
  const { id } = await conversation()
  const workspace = { defaultCountry: null, leadsEnabled: true, inboxEnabled: true, inboxAvailable: true }
  const app = createServer({ log: node.deps.log, clock: node.deps.clock })
  decorateTeamRequests(app)
  const guard = {
    member: () => async (request: { member: unknown }) => {
      request.member = { workspaceId, actor: member.actor, role: 'member', workspace }
    },
  }
  sendTeamRoutes(app, node.deps, guard as never)
  const url = `/api/team/v1/workspaces/${workspaceId}/inbox/conversations/${id}/messages`
  const post = (headers: Record<string, string>) => app.inject({ method: 'POST', url, headers, payload: text() })

  assert.equal((await post({})).json().data.code, 'IDEMPOTENCY_KEY_REQUIRED')
  const first = await post({ 'idempotency-key': 'one' })
  assert.equal(first.statusCode, 202)
  const again = await post({ 'idempotency-key': 'one' })
  assert.deepEqual([again.body, again.headers['idempotent-replayed']], [first.body, 'true'])
  assert.deepEqual(
    (await events(id)).map(({ name }) => name),
    ['inbox.conversation.owner_changed', 'inbox.message.sent'],
  )
  workspace.inboxAvailable = false
  assert.equal((await post({ 'idempotency-key': 'two' })).json().data.code, 'CHAT_INBOX_UNAVAILABLE')
  workspace.inboxEnabled = false
  assert.equal((await post({ 'idempotency-key': 'two' })).statusCode, 403)
  await app.close()
})
