import assert from 'node:assert/strict'
import { createSequencer } from '../../../src/events/sequencer.ts'
import { signedInMember, type TestMember } from '../member.ts'
import { type Answer, type World, world } from '../world.ts'

export const hooksPath = '/webhooks'
export const exampleUrl = 'https://hooks.example.com/parley?token=abc'

export interface WebhookApi extends World {
  admin: TestMember
  /** Creates an endpoint and answers it with its secret. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer
  endpoint(fields?: Record<string, unknown>): Promise<any>
  /** Calls an endpoint's route and expects it to succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer
  ok(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<any>
  place(): Promise<void>
  /** Ids of the events of a lead, oldest first. */
  eventIds(subjectId: string): Promise<string[]>
}

/** A workspace with an admin who is signed in. */
export async function webhookApi(): Promise<WebhookApi> {
  const w = await world()
  const admin = await signedInMember(w, 'admin')
  const ok: WebhookApi['ok'] = async (method, path, body) => {
    const answer = await admin.call(method, `${hooksPath}${path}`, body)
    assertSuccess(answer)
    return answer.body
  }
  const sequencer = createSequencer(w.db)
  return {
    ...w,
    admin,
    ok,
    place: () => sequencer.place(w.workspaceId),
    endpoint: async (fields = {}) => {
      const { endpoint, secret } = await ok('POST', '', { url: exampleUrl, events: ['lead.*'], ...fields })
      return { ...endpoint, secret }
    },
    eventIds: async (subjectId) => {
      const rows = await w.db.sql<{ id: string }[]>`
        select id
        from events
        where workspace_id = ${w.workspaceId}
          and subject_id = ${subjectId}
        order by id`
      return rows.map(({ id }) => id)
    },
  }
}

function assertSuccess({ status, body }: Answer): void {
  assert.ok(status >= 200 && status < 300, `${status} ${JSON.stringify(body)}`)
}
