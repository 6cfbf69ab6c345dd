import assert from 'node:assert/strict'
import { sendDeps } from '../../../src/app/inbox.ts'
import { newId } from '../../../src/base/id.ts'
import { askForRatings } from '../../../src/inbox/satisfaction/ask-for-ratings.ts'
import { agentsWorld } from '../../support/agents/agents-world.ts'
import { signedInMember } from '../../support/member.ts'

const minuteMs = 60_000
export const noDetail = { quoted: null }

interface Stored {
  id: string
  status: string
  reason: string | null
  score: number | null
  answered_by: string
  answerer_id: string | null
}

/** A conversation that a person has answered, in a workspace that asks after ten minutes. */
export async function satisfactionWorld(settings: object = {}) {
  const w = await agentsWorld({ answersNewConversations: false })
  // The job works on all workspaces: those of earlier tests would only take time.
  await w.db.sql`update satisfaction_settings set is_enabled = false`
  const [admin, member] = [await signedInMember(w, 'admin'), await signedInMember(w)]
  const set = async (change: object) => {
    const { status, body } = await admin.call('PATCH', '/satisfaction-settings', change)
    assert.equal(status, 200, JSON.stringify(body))
  }
  await set({ isEnabled: true, ...settings })
  const { id } = await w.customerWrites('Where is my order?')
  const at = `/inbox/conversations/${id}`
  const status = async (to: string, by = member) =>
    assert.equal((await by.call('PATCH', at, { status: to })).status, 200)
  const reply = async (text: string) => {
    w.clock.advance(1_000)
    const headers = { 'idempotency-key': newId(new Date()) }
    const { status, body } = await member.call('POST', `${at}/messages`, { kind: 'text', text }, headers)
    assert.ok(status < 300, JSON.stringify(body))
  }
  const wait = (minutes: number) => w.clock.advance(minutes * minuteMs)
  const stored = async () => [
    ...(await w.db.sql<Stored[]>`
      select id, status, reason, score, answered_by, answerer_id
      from satisfaction_ratings
      where workspace_id = ${w.workspaceId}
      order by id`),
  ]
  const answers = async (score: number, ratingId?: string, text = '★') => {
    const [rating] = await stored()
    const chosen = `rating:${ratingId ?? rating?.id}:${score}`
    return w.customerWrites(text, { detail: { ...noDetail, chosen } as never })
  }
  const run = () => askForRatings(sendDeps(w))
  const conversation = async () => (await member.call('GET', at)).body.conversation
  await reply('It arrives tomorrow')
  return { ...w, admin, member, set, id: id as string, status, reply, wait, stored, answers, run, conversation }
}
