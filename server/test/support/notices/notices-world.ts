import { type InboxWorld, inboxWorld } from '../inbox/inbox-world.ts'
import { signedInMember, type TestMember } from '../member.ts'

export interface Colleague extends TestMember {
  /** The notices as the bell lists them. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer
  told(query?: string): Promise<any[]>
  /** What they tell of, newest first. */
  kinds(): Promise<string[]>
}

export interface NoticesWorld {
  w: InboxWorld
  /** A conversation, and where the team finds it. */
  id: string
  place: string
  ana: Colleague
  bea: Colleague
}

/** A customer who has written, and two members. */
export async function noticesWorld(): Promise<NoticesWorld> {
  const w = await inboxWorld()
  const { id } = await w.customerWrites('Hi')
  w.clock.advance(1000)
  return { w, id, place: `/inbox/conversations/${id}`, ana: await colleague(w), bea: await colleague(w) }
}

export async function colleague(w: InboxWorld): Promise<Colleague> {
  const member = await signedInMember(w)
  const told: Colleague['told'] = async (query = '') => (await member.call('GET', `/notices${query}`)).body.notices
  return { ...member, told, kinds: async () => (await told()).map(({ kind }) => kind) }
}
