import assert from 'node:assert/strict'
import { test } from 'node:test'
import { approveDraft, rejectDraft } from '../../../src/inbox/drafts/decide-draft.ts'
import { proposeDraft } from '../../../src/inbox/drafts/propose-draft.ts'
import { customerMessage } from '../../support/inbox/inbox-world.ts'
import { sendWorld, text } from '../../support/inbox/send-world.ts'

/** Two nodes on one database, and open drafts of their agent, each in a conversation of its own. */
async function draftsOnTwoNodes(count: number) {
  const w = await sendWorld()
  const nodes = [w.node, await w.addNode()].map(({ deps }) => deps)
  const agent = { ...w.agent, actor: { type: 'agent' as const, id: w.keyId } }
  const member = { workspaceId: w.workspaceId, actor: { type: 'user' as const, id: w.member.actor.id } }
  const drafts = await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const { id: conversationId, contact } = await w.conversation()
      const content = { key: `answer-${n}`, body: text(`Answer ${n}`), syntax: null, identity: null }
      const proposal = { conversationId, content, why: 'always' as const, seen: null }
      const { draft } = await proposeDraft(w.node.deps, agent, proposal)
      return { conversationId, draftId: draft.id, phone: contact.phone ?? '' }
    }),
  )
  const statusOf = async (draftId: string) => {
    const [row] = await w.db.sql<[{ status: string }]>`
      select status from drafts where workspace_id = ${w.workspaceId} and id = ${draftId}`
    return row.status
  }
  const sentTo = (phone: string) => w.platform.sends.filter(({ order }) => order.recipient.phone === phone).length
  return { ...w, nodes, member, drafts, statusOf, sentTo }
}

test('of 50 approvals, edits, rejections and customer messages at once on two nodes, none sends twice or a stale draft', async () => {
  const w = await draftsOnTwoNodes(10)
  const [one, other] = w.nodes
  assert.ok(one && other)
  const written = new Set<string>()
  const ended = await Promise.all(
    w.drafts.flatMap(({ conversationId, draftId, phone }, n) => {
      const approve = (deps: typeof one, edited: string | null) =>
        approveDraft(deps, w.member, { conversationId, draftId, text: edited }).then(
          ({ status }) => status,
          ({ statusCode }) => statusCode,
        )
      const customer = { userId: null, parentUserId: null, phone, name: 'Ana' }
      const write = async () => {
        await w.tell(customerMessage({ at: w.clock.now(), text: 'Wait', customer }))
        written.add(draftId)
      }
      const reject = () => rejectDraft(other, w.member, { conversationId, draftId, reason: null }).catch(() => {})
      return [
        approve(one, null),
        approve(other, null),
        approve(other, `Edited ${n}`),
        n % 2 ? write() : reject(),
        approve(one, `Edited ${n}`),
      ]
    }),
  )
  assert.equal(ended.length, 50)
  for (const { draftId, phone } of w.drafts) {
    const [status, sends] = [await w.statusOf(draftId), w.sentTo(phone)]
    const isSent = status === 'sent' || status === 'edited'
    assert.equal(sends, isSent ? 1 : 0, `${status} ${written.has(draftId)}`)
    assert.ok(status !== 'open', status)
  }
})

test('a draft is not sent once the customer has written, whichever node receives it', async () => {
  const w = await draftsOnTwoNodes(1)
  const [draft] = w.drafts
  assert.ok(draft)
  const customer = { userId: null, parentUserId: null, phone: draft.phone, name: 'Ana' }
  await w.tell(customerMessage({ at: w.clock.now(), text: 'Wait', customer }))
  for (const deps of w.nodes) {
    await assert.rejects(approveDraft(deps, w.member, { ...draft, text: null }), { statusCode: 409 })
  }
  assert.deepEqual([await w.statusOf(draft.draftId), w.sentTo(draft.phone)], ['stale', 0])
})
