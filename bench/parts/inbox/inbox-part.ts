import type { Db } from '../../../server/src/base/db.ts'
import { fillMessages } from '../../../server/test/support/fill.ts'
import type { Contest } from '../../contest.ts'
import { fillInboxFloor, makeInboxFloor } from '../../floors/inbox-floor-tables.ts'
import { fillingOf, type SeededConnection, seedConnection } from '../../inbox-seed.ts'
import type { BenchWorkspace } from '../../workspace.ts'
import { feed } from './feed.ts'
import { conversationsEach, intakes } from './intake.ts'
import { lists } from './lists.ts'
import { sends } from './sends.ts'
import { statusContests } from './statuses.ts'

// A number sends 70 messages a second: many of them, so that it is not this pace that is measured.
const connectionCount = 64
const messagesEach = 60

/** Fills the workspace with conversations and answers what the inbox competes in. */
export async function inboxContests(db: Db, workspace: BenchWorkspace, platformPort: number): Promise<Contest[]> {
  const filling = await fillingOf(db, workspace)
  const connections: SeededConnection[] = []
  for (let n = 0; n < connectionCount; n++) {
    connections.push(await seedConnection(filling, workspace, platformPort, conversationsEach))
  }
  const readable = connections.flatMap(({ conversations }) => conversations.slice(0, 4))
  for (const { id, conversations } of connections) {
    await fillMessages(filling, id, conversations.slice(0, 4), messagesEach)
  }
  await makeInboxFloor(db)
  await fillInboxFloor(db, connectionCount * conversationsEach, readable.length, messagesEach)
  const { key } = workspace
  const feedContest = await feed(db, filling, key)
  await db.sql`vacuum analyze`
  return [
    ...intakes(db, connections),
    ...statusContests(filling, connections),
    ...lists(key, readable),
    feedContest,
    sends(db, key, connections),
  ]
}
