import assert from 'node:assert/strict'
import { inboxWorld } from '../inbox/inbox-world.ts'
import { signedInMember } from '../member.ts'
import type { Answer } from '../world.ts'
import { leadPath } from './leads.ts'

export const phones = { one: '5581991234567', two: '5511987650001' }

const scopes = ['leads.read', 'leads.write', 'leads.delete', 'leads.bulk', 'inbox.read'] as const

/** Creates two leads a minute apart, and a member who by default merges the second into the first. */
export async function mergeWorld(
  older: object = { firstName: 'One', phone: phones.one },
  newer: object = { firstName: 'Two', lastName: 'Other', phone: phones.two, externalRef: 'two' },
) {
  const w = await inboxWorld({ key: { scopes: [...scopes] } })
  const member = await signedInMember(w)
  const one = await w.lead({ ...older })
  w.clock.advance(60_000)
  const two = await w.lead({ ...newer })
  w.clock.advance(60_000)
  const done = ({ status, body }: Answer) => {
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
  const merge = (id: string = one.id, otherId: string = two.id, body: object = {}) =>
    member.call('POST', `/leads/${id}/merge`, { otherId, ...body })
  const undo = (id: string) => member.call('POST', `/lead-merges/${id}/undo`)
  return {
    ...{ w, member, one, two, merge, undo },
    /** Merges, and returns the remaining lead. */
    merged: async (...given: Parameters<typeof merge>) => done(await merge(...given)),
    undone: async (id: string) => done(await undo(id)),
    /** Returns a lead as its team sees it, and as a key does. */
    read: async (id: string) => (await member.call('GET', `/leads/${id}`)).body.lead,
    shown: async (identifier: string) => (await w.call('GET', leadPath(identifier))).body.data,
  }
}
