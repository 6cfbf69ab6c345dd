import { type InboxWorld, inboxWorld } from '../inbox/inbox-world.ts'
import { signedInMember } from '../member.ts'
import type { Answer } from '../world.ts'

/** Creates a conversation of a customer with the team, and two members. */
export async function notificationsWorld() {
  const w = await inboxWorld()
  const { id }: { id: string } = await w.customerWrites('Hi')
  w.clock.advance(1000)
  return { w, id, place: `/inbox/conversations/${id}`, ana: await colleague(w), bea: await colleague(w) }
}

export async function colleague(w: InboxWorld) {
  const member = await signedInMember(w)
  /** Returns the notifications as the bell lists them. */
  const listNotifications = async (query = ''): Promise<Answer['body'][]> =>
    (await member.call('GET', `/notices${query}`)).body.notices
  /** Returns their kinds, newest first. */
  const kinds = async (): Promise<string[]> => (await listNotifications()).map(({ kind }) => kind)
  return { ...member, listNotifications, kinds }
}
